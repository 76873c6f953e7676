"""Draw what a trained run looks at in a text."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from omegaconf import DictConfig
from rich.table import Table
from torch import Tensor

from zoo.config import folder_named, plain, refuse_unknown
from zoo.data.corpus import load_corpus
from zoo.data.generated import Generated
from zoo.data.source import sources
from zoo.errors import UserError
from zoo.inference.attention_page import NUMBERS, attention_page
from zoo.inference.dependence import EVEN, Depends, dependence
from zoo.inference.heads import effective_rank, heads
from zoo.inference.influence import influence
from zoo.inference.looking import look
from zoo.inference.opening import encode
from zoo.jobs.opened import Opened, opened, tell_emulated
from zoo.jobs.parts import refuse_limit
from zoo.jobs.results import json_target, write_json
from zoo.mismatch import told
from zoo.page import html
from zoo.run import Run
from zoo.schema import convert, parse_option
from zoo.terminal import show
from zoo.training.files import refuse_unwritable, write_whole

MOST = 96
"""Tokens that can still be told apart in a picture."""


def attention(config: DictConfig | Mapping[str, Any]) -> dict[str, Any]:
    """Draw `attention.text` of `conf/evaluate.yaml` into one page and print the numbers of each head. Raises UserError
    for bad input."""
    node = plain(config)
    asked = node["attention"]
    if not isinstance(asked, Mapping):
        raise UserError('attention must be a mapping, as in attention.text="a text"')
    refuse_unknown(asked, ("text", "source", "out"), "attention.")
    text = convert(asked["text"], str, "attention.text")
    source, out = (convert(asked[key], str | None, f"attention.{key}") for key in ("source", "out"))
    target = json_target(node)
    if out is not None:
        refuse_unwritable(Path(out), "attention.out")
    given = opened(node)
    tell_emulated(given.machinery)
    page = given.folder / "attention.html" if out is None else Path(out)
    found = seen(given, text, source, folder_named(node["cache"], "cache"))
    _show(found)
    write_json(target, found)
    write_whole(page, html(attention_page(found)).encode())
    show(f"drawn in {page}")
    return found


def seen(given: Opened, text: str, source: str | None, cache: str) -> dict[str, Any]:
    """All that the page shows, as plain values."""
    run, model = given.run, given.run.model
    reads = model.topology.traits.reads_source
    if reads != (source is not None):
        wanted = "reads a source: set attention.source" if reads else "reads no source: leave attention.source out"
        raise UserError(f"this model {wanted}")
    device = model.head.out.weight.device
    tokens = _tokens(run, text, "attention.text", start=reads).to(device)
    read = None if source is None else _tokens(run, source, "attention.source", start=False).to(device)
    looked = look(model, tokens, read)
    own, other = influence(model, tokens, read)
    grounds = _grounds(run, cache)
    return {
        "run": given.folder.name,
        **run.weights(),
        "dtype": str(looked.held[0].states.dtype).removeprefix("torch."),
        "tokens": _words(run, tokens),
        "source": [] if read is None else _words(run, read),
        "even": grounds.get(EVEN, {}),
        "mixers": [
            {
                "name": one.name,
                "stack": one.stack,
                "kind": one.kind,
                "heads": [
                    asdict(head) | {"grounds": grounds.get((one.name, i), {})} for i, head in enumerate(heads(one))
                ],
                "weights": _rounded(one.weights),
            }
            for one in looked.looked
        ],
        "influence": _rounded(own),
        "source_influence": None if other is None else _rounded(other),
        "layers": [
            {
                "name": f"{one.stack} layer {one.layer + 1}".strip(),
                "rank": effective_rank(one),
                "most": min(one.states.shape),
            }
            for one in looked.held
        ],
    }


def _tokens(run: Run, text: str, key: str, *, start: bool) -> Tensor:
    ids = encode(run.tokenizer, text, key)
    if start:
        ids = torch.cat([torch.tensor([run.tokenizer.special.start]), ids])
    if len(ids) > MOST:
        raise UserError(f"{key} has {len(ids)} tokens, and {MOST} can be drawn; give a shorter text")
    refuse_limit(run.model, len(ids), key)
    return ids[None]


def _words(run: Run, tokens: Tensor) -> list[str]:
    """What stands for each token beside a picture; a mark has a name."""
    special = run.tokenizer.special
    marks = {special.start: "[START]", special.end: "[END]", special.mask: "[MASK]"}
    return [marks.get(one) or repr(run.tokenizer.decode([one]))[1:-1] for one in tokens[0].tolist()]


def _grounds(run: Run, cache: str) -> Depends:
    """Where the run's corpus is generated, word by word: how much heads look at what the next word depends on."""
    data = parse_option("data", run.config.get("data"), "data")
    one_text = run.model.topology.generating is not None and not run.model.topology.traits.reads_source
    if not issubclass(sources.get(data.name), Generated) or not run.tokenizer.whole_words or not one_text:
        return {}
    corpus = load_corpus(data, run.tokenizer, cache)
    split = corpus.splits["validation"]
    return dependence(run.model, split, corpus.skills, run.config["context"])


def _rounded(values: Tensor) -> Any:
    return torch.round(values.double(), decimals=5).tolist()


def _show(found: Mapping[str, Any]) -> None:
    rows = [(one["name"], number, head) for one in found["mixers"] for number, head in enumerate(one["heads"], 1)]
    table = _table(f"{found['run']}, step {found['step']}", NUMBERS.values())
    for name, number, head in rows:
        table.add_row(name, str(number), *(_cell(head[key]) for key in NUMBERS))
    tables = [table]
    if skills := list(found["even"]):
        table = _table("\non the word that the next one depends on, by its skill, over validation documents", skills)
        for name, number, head in rows:
            table.add_row(name, str(number), *(_cell(head["grounds"].get(skill)) for skill in skills))
        table.add_row("uniform attention", "", *(_cell(found["even"][skill]) for skill in skills))
        tables.append(table)
    show(*tables, *told(found))
    for one in found["layers"]:
        show(f"{one['name']}: effective rank {one['rank']:.2f} of {one['most']}")


def _table(title: str, columns: Iterable[str]) -> Table:
    """Of a row for each head."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    table.add_column("mixer")
    for column in ("head", *columns):
        table.add_column(column, justify="right")
    return table


def _cell(value: float | None) -> str:
    return "—" if value is None else f"{value:.3f}"
