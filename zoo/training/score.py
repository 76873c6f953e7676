"""Evaluate a trained run: rebuild it from its folder and score it on held-out text."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from omegaconf import DictConfig
from rich.console import Console
from rich.table import Table

from zoo.api import Run, load
from zoo.config import load_plugin, plain, refuse_unknown
from zoo.data.corpus import load_corpus
from zoo.errors import UserError
from zoo.experiment import Runtime
from zoo.objective import objectives
from zoo.schema import convert, parse_option, typed
from zoo.training.evaluate import Scores, evaluate
from zoo.training.feed import Feed
from zoo.training.files import json_text, write_whole
from zoo.training.runtime import resolve

KEYS = ("data", "runtime", "run", "splits", "batches", "batch_size", "context", "json", "cache", "plugins")


def score(config: DictConfig) -> dict[str, Scores]:
    """Score what `conf/evaluate.yaml` says, print a table and return the scores by split."""
    node = plain(config)
    refuse_unknown(node, KEYS, "")
    for module in node["plugins"]:
        load_plugin(module)
    run = load(convert(node["run"], str, "run"))
    scores = score_run(run, node)
    _print(run, node["run"], scores)
    if node["json"] is not None:
        text = json_text({split: asdict(one) for split, one in scores.items()}, indent=1)
        write_whole(Path(convert(node["json"], str, "json")), f"{text}\n".encode())
    return scores


def score_run(run: Run, node: Mapping[str, Any]) -> dict[str, Scores]:
    """Scores by split. Raises UserError when the corpus has none of the splits, or they are too short."""
    runtime = Runtime(**typed(Runtime, node["runtime"], "runtime", "the runtime"))
    machinery = resolve(runtime)
    device = torch.device(machinery.device)
    corpus = load_corpus(
        parse_option("data", node.get("data") or run.config["data"], "data"), run.tokenizer, node["cache"]
    )
    asked = convert(node["splits"], tuple[str, ...], "splits")
    splits = [split for split in asked if split in corpus.splits]
    if not splits:
        raise UserError(f"the corpus has none of splits={list(asked)}; it has {', '.join(corpus.splits)}")
    objective = objectives.build(parse_option("objective", run.config["objective"], "objective"))
    context = convert(node["context"], int | None, "context") or run.config["context"]
    feed = Feed(
        corpus,
        objective,
        run.model.topology.traits,
        batch_size=convert(node["batch_size"], int, "batch_size"),
        context=context,
        splits=splits,
    )
    model = run.model.to(device)
    model.attention = machinery.attention
    lengths = torch.from_numpy(run.tokenizer.byte_lengths)
    batches = convert(node["batches"], int | None, "batches")
    return {
        split: evaluate(model, feed.evaluation(split, batches), lengths, device=device, autocast=machinery.autocast)
        for split in splits
    }


def _print(run: Run, path: str, scores: Mapping[str, Scores]) -> None:
    table = Table(title=f"{path}, step {run.step}", title_justify="left", box=None, pad_edge=False)
    for column in ("split", "nats per token", "perplexity", "bits per byte", "accuracy", "scored tokens"):
        table.add_column(column, justify="left" if column == "split" else "right")
    for split, one in scores.items():
        bits = "—" if one.bits_per_byte is None else f"{one.bits_per_byte:.4f}"
        perplexity = f"{torch.tensor(one.loss).exp().item():.3f}"
        table.add_row(split, f"{one.loss:.4f}", perplexity, bits, f"{one.accuracy:.4f}", f"{one.tokens:,}")
    console = Console()
    console.print(table, highlight=False)
    for split, one in scores.items():
        if one.no_bits_per_byte:
            console.print(f"{split}: no bits per byte, since {one.no_bits_per_byte}", highlight=False)
