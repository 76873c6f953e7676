"""Who is best in one number, and whether by more than noise."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from zoo.study.evidence import Evidence
from zoo.study.report.numbers import mean
from zoo.study.run import Run
from zoo.study.statistics import Paired, difference


@dataclass(frozen=True)
class Lead:
    """The variant with the best mean, and that mean."""

    best: str
    value: float
    noise: str
    """What must be said of how far it is ahead of the next one: nothing where that is more than noise."""


def numbers(evidence: Evidence, number: Callable[[Run], float | None]) -> dict[str, dict[int, float]]:
    """By variant and seed, where a run has that number."""
    found = {name: {run.seed: number(run) for run in evidence.done(name)} for name in evidence.shown}
    return {name: {seed: x for seed, x in one.items() if x is not None} for name, one in found.items()}


def lead(found: Mapping[str, Mapping[int, float]], *, highest: bool = False) -> Lead:
    """Among the variants that have a number; at least one has. Best is lowest, unless `highest`."""
    means = {name: mean(list(one.values())) or 0.0 for name, one in found.items() if one}
    best, *others = sorted(means, key=lambda name: -means[name] if highest else means[name])
    noise = _noise(difference(found[best], found[others[0]]), others[0]) if others else ""
    return Lead(best, means[best], noise)


def in_noise(found: Paired | None) -> bool:
    """Whether the difference may be none: of fewer than two seeds nobody knows."""
    return found is None or found.low is None or found.high is None or found.low <= 0 <= found.high


def _noise(found: Paired | None, other: str) -> str:
    if found is None or found.low is None:
        return ", without two seeds to know noise by"
    return f", within noise of `{other}`" if in_noise(found) else ""
