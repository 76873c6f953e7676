"""Who is ahead when all variants may use the same number of steps, tokens, operations or seconds.

Each run's validation losses are read at the largest budget that all of them reached, between two validations by a
straight line; nothing is extrapolated, and validations of the whole split are not mixed with those of a part of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from zoo.study.evidence import Evidence
from zoo.study.report.numbers import Series, alike, at, mean, series
from zoo.study.run import Run
from zoo.study.statistics import Paired, difference

AXES = {
    "steps": "equal steps",
    "tokens": "equal tokens",
    "flops": "equal FLOPs",
    "seconds": "equal seconds",
}
"""Budgets, and what a comparison at one of them is called."""


@dataclass(frozen=True)
class View:
    """The variants at one budget."""

    axis: str
    budget: float
    losses: Mapping[str, Mapping[int, float]]
    """Validation loss by variant and seed."""

    def means(self) -> dict[str, float]:
        """Mean loss of each variant."""
        return {name: mean(list(one.values())) or 0.0 for name, one in self.losses.items()}

    @property
    def winner(self) -> str:
        """The variant with the lowest mean."""
        means = self.means()
        return min(means, key=lambda name: means[name])

    def lead(self, over: str) -> Paired | None:
        """The winner's loss minus that of another variant, over the seeds of both."""
        return None if over == self.winner else difference(self.losses[self.winner], self.losses[over])


def views(evidence: Evidence) -> list[View]:
    """The views for which every run has what they need; one variant is no comparison."""
    found = [_view(evidence, axis) for axis in AXES]
    return [view for view in found if view is not None]


def _view(evidence: Evidence, axis: str) -> View | None:
    lines = {name: {run.seed: _line(run, axis) for run in evidence.done(name)} for name in evidence.shown}
    every = [line for by_seed in lines.values() for line in by_seed.values()]
    if len(lines) < 2 or not all(len(line[0]) > 1 for line in every):
        return None
    budget = min(line[0][-1] for line in every)
    losses: dict[str, dict[int, float]] = {}
    for name, by_seed in lines.items():
        read = {seed: at(line, budget) for seed, line in by_seed.items()}
        losses[name] = {seed: value for seed, value in read.items() if value is not None}
    return View(axis, budget, losses) if all(losses.values()) else None


def _line(run: Run, axis: str) -> Series:
    return series(alike(run.validation), {"steps": "step"}.get(axis, axis))
