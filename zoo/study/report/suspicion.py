"""Scores that are too good to be true: a model that sees what it is asked to predict shows in them."""

from zoo.study.evidence import Evidence
from zoo.study.report.numbers import listed
from zoo.study.run import Run

LUCK = 0.98
"""Share of the floor that no honest model falls below: on many targets the source itself comes within 2 % of it."""

LEAST_BITS = 0.5
"""Bits per byte that no model of this size reaches on text, where the floor is not known."""


def suspicions(evidence: Evidence) -> list[str]:
    """A sentence for the variants that score below what can be reached; nothing where there are none."""
    names = [name for name in evidence.shown if any(_too_good(run) for run in evidence.done(name))]
    if not names:
        return []
    return [f"Too good to be true: {listed(names)}, below the best possible loss. Does it see what it predicts?"]


def _too_good(run: Run) -> bool:
    test = run.scores.get("test", {})
    loss, floor, bits = (test.get(key) for key in ("loss", "floor", "bits_per_byte"))
    if isinstance(loss, int | float) and isinstance(floor, int | float):
        return loss < LUCK * floor
    return isinstance(bits, int | float) and bits < LEAST_BITS
