"""What an evaluation is asked for: one thing at a time, and no word on the command line that says nothing to it."""

from collections.abc import Iterable
from typing import Any

from omegaconf import DictConfig, OmegaConf

from zoo.data.files import from_launch
from zoo.errors import UserError

ALWAYS = frozenset({"run", "strict", "runtime", "cache", "plugins", "json", "hydra"})
READS = {
    "latency.prompts": frozenset({"latency"}),
    "attention.text": frozenset({"attention"}),
    "translation.pairs": frozenset({"translation", "splits", "batch_size"}),
    "generate.prompt": frozenset({"generate"}),
}
"""What each evaluation in place of scoring is asked for by, and the keys that it reads beside those of all."""

SCORING = frozenset({"data", "splits", "batches", "batch_size", "context", "tokenizer"})

HAD = ALWAYS.union(SCORING, *READS.values()) - {"hydra", "data", "tokenizer"}
"""The keys that every config of an evaluation has."""

PATHS = ("run", "json", "cache", "attention.out", "generate.draft")
"""The keys that are set to a file or a folder; those of `data` start from the launch folder by themselves."""


def asked_for(config: DictConfig, words: Iterable[str]) -> str | None:
    """The key that asks for something in place of scoring; None for scoring. `words` are those of the command line.
    Raises UserError for two such keys, and for a word that what is asked for does not read."""
    if taken := sorted(HAD - {*map(str, config)}):
        raise UserError(f"{taken[0]} cannot be left out of a config; leave the word ~{taken[0]} out")
    if OmegaConf.is_missing(config, "run"):
        raise UserError(
            "no value for run; give run=runs/<run>, or study=runs/studies/<study> for the report of a study"
        )
    asked = [key for key in READS if _value(config, key) is not None]
    if len(asked) > 1:
        raise UserError(f"{asked[0]} and {asked[1]} are two evaluations; ask for one at a time")
    mode = asked[0] if asked else None
    reads = ALWAYS | (READS[mode] if mode else SCORING)
    for word in words:
        key = word.lstrip("+~").partition("=")[0]
        if key.split(".")[0] not in reads:
            other = next((one for one in READS if key.startswith(one.split(".")[0])), None)
            advice = f"set {other} too" if other and mode is None else "leave it out"
            raise UserError(f"'{word}' says nothing to {mode or 'scoring'}; {advice}")
    return mode


def start_from_launch(config: DictConfig) -> None:
    """Let the paths of an evaluation start from the launch folder, wherever Hydra moved the job to."""
    for key in PATHS:
        path = OmegaConf.select(config, key)
        if isinstance(path, str) and path:
            OmegaConf.update(config, key, from_launch(path))


def _value(config: DictConfig, key: str) -> Any:
    """What stands at `node.key`. Raises UserError where the node is no mapping."""
    node, _, last = key.partition(".")
    found = config.get(node)
    if not isinstance(found, DictConfig):
        raise UserError(f"{node} must be a mapping, as in {key}=…")
    return found.get(last)
