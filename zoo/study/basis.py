"""What runs must share to be compared: the same data, tokenizer and budget, computed in the same way."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from zoo.study.run import Run
from zoo.training.files import json_text

MACHINERY = ("device", "dtype", "attention", "compile")
"""What moves numbers by more than the order of a sum."""

SCORED = 0.01
"""Share by which the scored test targets may differ: other ways to cut the same text into rows lose some."""


def basis(run: Run) -> dict[str, Any]:
    """The values that all runs of a comparison must have."""
    science, machinery = run.science, run.record.get("machinery", {})
    found: dict[str, Any] = {"data": science.get("data")}
    for part in ("tokenizer", "budget"):
        found |= {f"{part}.{key}": _plain(value) for key, value in (science.get(part) or {}).items()}
    return found | {f"runtime.{key}": machinery.get(key) for key in MACHINERY}


def common_basis(runs: Sequence[Run]) -> dict[str, Any] | None:
    """The basis that most of these runs have, the first of several; None for no runs."""
    found = [basis(run) for run in runs]
    texts = [json_text(one) for one in found]
    return found[texts.index(Counter(texts).most_common(1)[0][0])] if found else None


def difference(run: Run, common: Mapping[str, Any]) -> str:
    """How the run's basis differs, as in "budget.steps 200 instead of 300"; nothing when it does not."""
    own = basis(run)
    keys = [key for key in {**common, **own} if own.get(key) != common.get(key)]
    if "data" in keys:
        return "another corpus, or other settings of it"
    return ", ".join(f"{key} {own.get(key)} instead of {common.get(key)}" for key in keys)


def scored(run: Run) -> int | None:
    """How many targets the test split had."""
    found = run.scores.get("test", {}).get("scored", run.scores.get("test", {}).get("tokens"))
    return int(found) if isinstance(found, int | float) else None


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else str(value) if isinstance(value, dict) else value
