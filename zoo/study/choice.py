"""The tuning that each variant is judged with: the best on validation, over the seeds that all its values had.

It is the value that the study itself went on with (zoo/study/tuned.py): a run that failed or was killed has no loss, so
its value is not chosen on the seeds that are left. One that has not ended yet is missing, and says nothing.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from zoo.study.question import Question
from zoo.study.run import Run
from zoo.sweep.notes import OVER

Values = tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Choice:
    """What tuning a variant came to."""

    best: Mapping[str, Any]
    losses: Mapping[Values, float]
    """Mean validation loss by tuning; infinite when a run diverged or failed."""
    edges: tuple[str, ...]
    """Keys whose best value is the least or the greatest that was tried: a better one may lie beyond."""
    runs: int
    """How many were made to choose: the tuning effort."""
    seeds: tuple[int, ...]
    """Over which the means are taken."""


def values_of(tuning: Mapping[str, Any]) -> Values:
    """A tuning as a key."""
    return tuple(sorted((key, tuple(one) if isinstance(one, list) else one) for key, one in tuning.items()))


def choose(question: Question, runs: Sequence[Run]) -> dict[str, Choice]:
    """The choice of every variant that has a run which is over; all alike where nothing is tuned."""
    by_variant: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        by_variant[run.variant].append(run)
    found = {name: _choice(question, by_variant[name]) for name in question.names}
    return {name: one for name, one in found.items() if one is not None}


def _choice(question: Question, runs: Sequence[Run]) -> Choice | None:
    over = [run for run in runs if run.state in OVER]
    grouped: dict[Values, dict[int, Run]] = defaultdict(dict)
    for run in over:
        grouped[values_of(run.tuning)][run.seed] = run
    if not grouped:
        return None
    shared = sorted(set.intersection(*(set(one) for one in grouped.values())))
    losses = {values: _mean([by_seed[seed] for seed in shared]) for values, by_seed in grouped.items()}
    best = min(losses, key=lambda one: losses[one])
    tuning = next(iter(grouped[best].values())).tuning
    effort = len(shared) * len(grouped) if question.tuning else 0
    edges = _edges(question, tuning) if math.isfinite(losses[best]) else ()
    return Choice(tuning, losses, edges, effort, tuple(shared))


def _mean(runs: Sequence[Run]) -> float:
    """A run without a finite loss is infinitely bad."""
    losses = [run.value("validation loss") for run in runs]
    return sum(math.inf if one is None else one for one in losses) / len(losses) if losses else math.inf


def _edges(question: Question, best: Mapping[str, Any]) -> tuple[str, ...]:
    edges = []
    for key, values in question.tuning.items():
        numbers = [one for one in values if isinstance(one, int | float)]
        if len(numbers) > 1 and best.get(key) in (min(numbers), max(numbers)):
            edges.append(key)
    return tuple(edges)
