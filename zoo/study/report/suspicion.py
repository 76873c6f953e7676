"""Scores that are too good to be true: a model that sees what it is asked to predict shows in them."""

from zoo.data.told import repeated
from zoo.study.evidence import Evidence
from zoo.study.report.numbers import listed
from zoo.study.run import Run

LUCK = 0.98
"""Share of the floor that no honest model falls below: on many targets the source itself comes within 2 % of it."""

LEAST_BITS = 0.5
"""Bits per byte that no model of this size reaches on text, where the floor is not known."""


def suspicions(evidence: Evidence) -> list[str]:
    """A sentence for the variants that score below what can be reached, and one for held-out text that stands in train;
    nothing where there is none."""
    found = []
    names = [name for name in evidence.shown if any(_too_good(run) for run in evidence.done(name))]
    if names:
        found.append(
            f"Too good to be true: {listed(names)}, below the best possible loss. Does it see what it predicts?"
        )
    again = {one: None for name in evidence.shown for run in evidence.done(name) for one in _repeated(run)}
    if again:
        found.append(f"Held-out text is not all new: {'; '.join(again)}. There a score may be memory.")
    return found


def _repeated(run: Run) -> list[str]:
    """What of its held-out splits stands in train."""
    data = run.record.get("data", {})
    return [f"{one} (data={data.get('data')})" for one in repeated(data)]


def _too_good(run: Run) -> bool:
    test = run.scores.get("test", {})
    loss, floor, bits = (test.get(key) for key in ("loss", "floor", "bits_per_byte"))
    if isinstance(loss, int | float) and isinstance(floor, int | float):
        return loss < LUCK * floor
    return isinstance(bits, int | float) and bits < LEAST_BITS
