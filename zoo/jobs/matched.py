"""`match=` of a run: its model is made as large as its reference before the run gets its name."""

from collections.abc import Mapping, Sequence
from typing import Any

from hydra.core.hydra_config import HydraConfig

from zoo.command.compose import compose
from zoo.command.overrides import key_of
from zoo.config import plain
from zoo.families import AXES
from zoo.matching.apply import Report, match, parse_match
from zoo.schema import convert


def matched(
    node: Mapping[str, Any] | None, config: Mapping[str, Any], overrides: Sequence[str], vocabulary: int
) -> tuple[dict[str, Any], Report | None]:
    """The config with the number that was solved for, and how near it came; as it is when nothing is to be matched.
    `node` is the config's `match`, `overrides` are those of the command line. Raises UserError as `match` does."""
    wanted = parse_match(node)
    if wanted is None:
        return dict(config), None
    reference = plain(compose(reference_overrides(wanted.reference, overrides)))["model"]
    model, report = match(wanted, config["model"], reference, vocabulary, config["budget"]["context"])
    return {**config, "model": model}, report


def reference_overrides(reference: Any, overrides: Sequence[str]) -> list[str]:
    """What the reference is composed from. null: the same command without its part swaps and values inside parts; a
    text: that whole model at the same sizes; a list: these overrides."""
    searchpath = []
    if HydraConfig.initialized():
        searchpath = [one for one in HydraConfig.get().overrides.hydra if key_of(one) == "hydra.searchpath"]
    chosen = convert(reference, str | tuple[str, ...] | None, "match.reference")
    if isinstance(chosen, tuple):
        return [*searchpath, *chosen]
    kept = [one for one in overrides if not _of_a_part(key_of(one))]
    if chosen is not None:
        kept = [f"model={chosen}", *(one for one in kept if key_of(one) != "model")]
    return [*searchpath, *kept]


def _of_a_part(key: str) -> bool:
    """Whether an override swaps a part, sets a value inside one, or asks for the matching itself."""
    names = key.partition("@")[0].replace("/", ".").split(".")
    return names[0] == "match" or (len(names) > 1 and names[0] == "model" and names[1] in (*AXES, "cross"))
