"""What guessing gets right, where a corpus says so."""

from collections.abc import Iterable

from zoo.study.run import Run


def chance(runs: Iterable[Run], skill: str) -> float | None:
    """The share of what is determined that guessing gets right; None where it is not known."""
    for run in runs:
        lines = run.scores.get("test", {}).get("skills", {}).get(skill, {}).get("lines") or {}
        value = (lines.get("chance") or {}).get("accuracy")
        if isinstance(value, int | float):
            return float(value)
    return None
