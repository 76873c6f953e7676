"""How small a difference can a test split show? The spread over its targets of what one model loses more than another.

    python benchmarks/resolution.py runs/studies/norm       # or any folder with run folders in it

Two runs that are alike on the whole differ by about twice that spread over the root of the number of targets, however
many seeds there are: all are scored on the same targets. `by target` takes targets as drawn one by one; `by row` takes
whole rows as drawn, since the targets of a row depend on each other, and is told per target as well.
"""

import sys
from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path

import numpy as np
import torch

import zoo
from zoo.config import parse
from zoo.data.corpus import load_corpus
from zoo.objective import objectives
from zoo.study.loading import load_runs
from zoo.training.feed import Feed
from zoo.training.run import read_config

Rows = list[np.ndarray]
Key = tuple[str, int]
"""Variant and seed."""


@torch.no_grad()
def rows_of(folder: Path) -> Rows:
    """Nats of each scored target of the test split, by row."""
    run, experiment = zoo.load(str(folder)), parse(read_config(folder))
    corpus = load_corpus(experiment.data, experiment.tokenizer, experiment.cache)
    objective, budget = objectives.build(experiment.objective), experiment.budget
    traits = run.model.topology.traits
    feed = Feed(corpus, objective, traits, batch_size=budget.batch_size, context=budget.context, splits=["test"])
    found = []
    for task in feed.evaluation("test"):
        logits = run.model(**task.inputs).logits
        nats = torch.nn.functional.cross_entropy(logits.flatten(0, 1), task.targets.flatten(), reduction="none")
        for row, weights in zip(nats.view_as(task.targets), task.weights, strict=True):
            found.append(row[weights > 0].double().numpy())
    return [row for row in found if len(row)]


def differences(rows: Mapping[Key, Rows]) -> Iterator[tuple[str, Rows]]:
    """Of two seeds of one variant, of two variants with one seed, and of two variants in the mean over their seeds."""
    for (a, one), (b, other) in combinations(rows, 2):
        if (a == b) != (one == other):
            yield "two seeds" if a == b else "two variants, a seed", minus(rows[a, one], rows[b, other])
    for a, b in combinations(dict.fromkeys(variant for variant, _ in rows), 2):
        both = [minus(rows[a, seed], rows[b, seed]) for one, seed in rows if one == a and (b, seed) in rows]
        if len(both) > 1:
            yield f"two variants, {len(both)} seeds", [np.mean(some, axis=0) for some in zip(*both, strict=True)]


def minus(mine: Rows, theirs: Rows) -> Rows:
    return [a - b for a, b in zip(mine, theirs, strict=True)]


def spreads(rows: Rows) -> tuple[float, float]:
    """Standard deviation of the difference on one target: over targets, and over rows."""
    whole = np.concatenate(rows)
    sums = np.array([(row - whole.mean()).sum() for row in rows])
    return float(whole.std(ddof=1)), float(np.sqrt((sums**2).sum() / len(whole)))


def main() -> None:
    torch.set_num_threads(1)
    runs = [run for run in load_runs(Path(sys.argv[1])).runs if run.done and run.folder is not None]
    rows = {(run.variant, run.seed): rows_of(run.folder) for run in runs if run.folder is not None}
    first = next(iter(rows.values()))
    targets = sum(map(len, first))
    loss = np.mean([np.concatenate(one).mean() for one in rows.values()])
    print(f"{len(rows)} runs, {targets:,} test targets in {len(first):,} rows, {loss:.3f} nats")
    found: dict[str, list[tuple[float, float]]] = {}
    for kind, one in differences(rows):
        found.setdefault(kind, []).append(spreads(one))
    for kind, some in found.items():
        for name, values in zip(("by target", "by row"), zip(*some, strict=True), strict=True):
            luck = 2 * np.mean(values) / np.sqrt(targets)
            ends = f"{min(values):.3f} to {max(values):.3f}, of {len(some)}"
            print(f"{kind}, {name}: {np.mean(values):.3f} nats ({ends}); twice over the root: {luck:.4f}")


if __name__ == "__main__":
    main()
