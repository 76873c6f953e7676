"""Evaluate a trained run: rebuild it from its folder and score it on held-out text."""

from collections.abc import Mapping
from typing import Any

import torch
from omegaconf import DictConfig
from rich.table import Table

from zoo.api import load
from zoo.config import folder_named, plain, refuse_unknown
from zoo.data.corpus import load_corpus
from zoo.errors import UserError
from zoo.jobs.held_out import held_out
from zoo.jobs.opened import machinery_of, runtime_of, tell_emulated
from zoo.jobs.parts import place, refuse_limit
from zoo.jobs.results import json_target, write_json
from zoo.jobs.skill_table import skill_tables
from zoo.memory import enough_memory
from zoo.mismatch import told
from zoo.objective import objectives
from zoo.plugins import load_plugins
from zoo.run import Run
from zoo.schema import convert, parse_option, positive
from zoo.terminal import show
from zoo.training.evaluate import Scores
from zoo.training.feed import Feed
from zoo.training.runtime import Work
from zoo.training.scoring import score as measured

KEYS = (
    "data",
    "runtime",
    "run",
    "strict",
    "splits",
    "batches",
    "batch_size",
    "context",
    "json",
    "cache",
    "latency",
    "attention",
    "translation",
    "generate",
    "plugins",
)


def score(config: DictConfig | Mapping[str, Any]) -> dict[str, Scores]:
    """Score what `conf/evaluate.yaml` says, print a table and return the scores by split. Raises UserError for bad
    input."""
    node = plain(config)
    if node.pop("tokenizer", None) and not node.get("data"):
        raise UserError("tokenizer: a run is scored in the tokens of its own tokenizer; leave tokenizer= out")
    refuse_unknown(node, KEYS, "")
    load_plugins(node["plugins"])
    path = convert(node["run"], str, "run")
    target = json_target(node)
    run = load(path, strict=convert(node["strict"], bool, "strict"))
    with enough_memory("make context or batch_size smaller"):
        scores = score_run(run, node)
    _print(run, path, scores)
    write_json(target, {split: one.as_dict() for split, one in scores.items()} | run.weights())
    return scores


def score_run(run: Run, node: Mapping[str, Any]) -> dict[str, Scores]:
    """Scores by split. Raises UserError for a split that the corpus does not have, or that is too short."""
    batches, context = (convert(node[key], int | None, key) for key in ("batches", "context"))
    batch_size = convert(node["batch_size"], int, "batch_size")
    positive("", batches=batches, batch_size=batch_size, context=context)
    runtime_of(node)
    data = parse_option("data", node.get("data") or run.config.get("data"), "data")
    corpus = load_corpus(data, run.tokenizer, folder_named(node["cache"], "cache"))
    splits = held_out(node["splits"], corpus)
    asked, context = context, context or run.config["context"]
    refuse_limit(run.model, context, "context")
    objective = objectives.build(parse_option("objective", run.config["objective"], "objective"))
    traits = run.model.topology.traits
    feed = Feed(corpus, objective, traits, batch_size=batch_size, context=context, splits=splits)
    if asked is not None:
        feed.refuse_unfilled(asked, "context")
    machinery = machinery_of(node, Work(context, flops=0.0))
    tell_emulated(machinery)
    torch.set_num_threads(machinery.threads)
    place(run.model, machinery)
    return {split: measured(run.model, feed, split, machinery, batches=batches, compiled=True) for split in splits}


def _print(run: Run, path: str, scores: Mapping[str, Scores]) -> None:
    table = Table(title=f"{path}, step {run.step}", title_justify="left", box=None, pad_edge=False)
    for column in ("split", "nats per token", "perplexity", "bits per byte", "accuracy", "scored tokens"):
        table.add_column(column, justify="left" if column == "split" else "right")
    for split, one in scores.items():
        bits = "—" if one.bits_per_byte is None else f"{one.bits_per_byte:.4f}"
        perplexity = f"{torch.tensor(one.loss).exp().item():.3f}"
        table.add_row(split, f"{one.loss:.4f}", perplexity, bits, f"{one.accuracy:.4f}", f"{one.tokens:,}")
    show(table)
    show(*told(run.weights()))
    for split, one in scores.items():
        if one.no_bits_per_byte:
            show(f"{split}: no bits per byte, since {one.no_bits_per_byte}")
        show(*skill_tables(split, one))
