"""Translate held-out sources with a trained run, and score what comes out."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from omegaconf import DictConfig
from rich.table import Table
from rich.text import Text

from zoo.api import load
from zoo.config import folder_named, plain, refuse_unknown
from zoo.data.corpus import load_corpus
from zoo.data.source import sources
from zoo.errors import UserError
from zoo.inference.chrf import ChrF
from zoo.inference.opening import objective_of
from zoo.jobs.held_out import held_out
from zoo.jobs.opened import Opened, folder_of, machinery_of, put, runtime_of, tell_emulated
from zoo.jobs.results import json_target, write_json
from zoo.jobs.translated import Pairs, translated
from zoo.memory import enough_memory
from zoo.mismatch import told
from zoo.number import counted
from zoo.option import Option
from zoo.plugins import load_plugins
from zoo.run import Run
from zoo.schema import convert, parse_option, positive
from zoo.terminal import show

FITTING = "give a run of objective=seq2seq on pairs, as of: python train.py model=transformer_2017 data=toy_translation"
WORDS = (
    "exact match: share of the translations that equal the reference; best expected: that of a model that always says"
    " the more frequent of two synonyms; up to synonyms: share with an allowed word at each place; chrF: 0 to 100"
)
"""What the columns of the table mean."""


def translation(config: DictConfig | Mapping[str, Any]) -> dict[str, Any]:
    """Translate as `translation` of `conf/evaluate.yaml` says, print a table and examples, and leave translation.json
    in the run folder. Raises UserError for bad input."""
    node = plain(config)
    if not isinstance(node["translation"], Mapping):
        raise UserError("translation must be a mapping, as in translation.pairs=500")
    refuse_unknown(node["translation"], ("pairs",), "translation.")
    count = convert(node["translation"]["pairs"], int, "translation.pairs")
    batch_size = convert(node["batch_size"], int, "batch_size")
    positive("translation", pairs=count)
    positive("", batch_size=batch_size)
    target, chrf = json_target(node), ChrF()
    load_plugins(node["plugins"])
    path = Path(convert(node["run"], str, "run"))
    run = load(path, strict=convert(node["strict"], bool, "strict"))
    data = _data(run)
    runtime_of(node)
    corpus = load_corpus(data, run.tokenizer, folder_named(node["cache"], "cache"))
    chosen = {
        split: Pairs.of(corpus, split, count, run.config["context"]) for split in held_out(node["splits"], corpus)
    }
    given = Opened(run, folder_of(path), machinery_of(node))
    tell_emulated(given.machinery)
    put([run], given.machinery)
    with enough_memory("make batch_size smaller"):
        found = translated(given, chosen, sources.build(data), chrf, batch_size) | {"asked": count}
    _show(found, [f"{split}: {why}" for split in chosen if (why := corpus.split(split).bytes_unknown)])
    for file in (given.folder / "translation.json", target):
        write_json(file, found)
    return found


def _data(run: Run) -> Option:
    """The corpus of the run. Raises UserError for one that has no pairs, or a run that was not trained to translate."""
    data = parse_option("data", run.config.get("data"), "data")
    if not objective_of(run).translates:
        name = run.config["objective"]["name"]
        raise UserError(f"translation.pairs: a run of objective={name} does not translate; {FITTING}")
    if sources.get(data.name).kind != "pairs":
        raise UserError(f"translation.pairs: this run was trained on data={data.name}, which has no pairs; {FITTING}")
    return data


def _show(found: Mapping[str, Any], notes: Sequence[str]) -> None:
    title = f"{found['run']}, step {found['step']}"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for column in ("split", "pairs", "exact match", "best expected", "up to synonyms", "chrF"):
        table.add_column(column, justify="left" if column == "split" else "right")
    for one in found["splits"]:
        known = one["synonyms"] or {}
        shares = (one["exact"], known.get("best"), known.get("exact"))
        cells = ("—" if share is None else f"{share:.4f}" for share in shares)
        table.add_row(one["split"], f"{one['pairs']:,}", *cells, f"{one['chrf']:.2f}")
    show(table, WORDS, f"chrF by sacrebleu {found['sacrebleu']}: {found['signature']}", *told(found), *notes)
    for one in found["splits"]:
        if one["too_long"]:
            many = counted(one["too_long"], "pair")
            show(f"{one['split']}: {many} longer than the context that the run was trained with, left out")
    for example in found["splits"][0]["examples"]:
        show("", *(Text(f"{name:<12} {text}") for name, text in example.items()))
