"""Whether what latency.json of a run holds, or another file of scores, is what is written there: it may come from
anywhere."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from zoo.mismatch import told
from zoo.study.evidence import Evidence
from zoo.study.run import Run

SPREAD = {"median": float, "low": float, "high": float}
ONE = {
    "batch": int,
    "prompt": int,
    "first_token_seconds": SPREAD,
    "token_seconds": SPREAD,
    "by_position": [{"position": int, "seconds": SPREAD}],
    "tokens_per_second": SPREAD,
    "state_bytes_counted": int,
    "state_bytes": int,
    "peak_bytes": int,
}
SHAPE = {
    "plan": {"new_tokens": int, "repetitions": int, "compiled": bool},
    "machinery": {"threads": int, "device": str, "dtype": str},
    "machine": {"processor": str},
    "measurements": [ONE],
}
"""What a report reads of it. A list has at least one entry; numbers are finite and not below 0."""

WORDS = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}


def reasons(found: Mapping[str, Any], wrong: str, file: str, again: str) -> list[str]:
    """Why what that file of a run holds cannot be used: it is damaged (`wrong` says where), or of a model that is not
    the one that was trained."""
    return [f"its {file} is damaged ({wrong}); {again} it again."] if wrong else told(found)


def unused(evidence: Evidence, why: Callable[[Run], list[str]], verb: str) -> list[str]:
    """What was measured of runs that count and cannot be used, with the reason."""
    return [
        f"Not {verb} of `{name}`, seed {run.seed}: {reason}"
        for name in evidence.shown
        for run in evidence.done(name)
        for reason in why(run)
    ]


def misfit(found: Any, shape: Any = SHAPE, where: str = "") -> str:
    """The first place that is not as it should be, as in 'plan.new_tokens is no whole number'; empty where all is."""
    match shape:
        case dict():
            if not isinstance(found, dict):
                return f"{where} is no mapping".strip()
            places = [(key, one, f"{where}.{key}".lstrip(".")) for key, one in shape.items()]
            return next((said for key, one, at in places if (said := misfit(found.get(key), one, at))), "")
        case [inner]:
            if not isinstance(found, list) or not found:
                return f"{where} is no list with something in it"
            return next((said for i, one in enumerate(found) if (said := misfit(one, inner, f"{where}[{i}]"))), "")
    right = type(found) in (int, float) and math.isfinite(found) if shape is float else type(found) is shape
    return "" if right and (shape in (bool, str) or found >= 0) else f"{where} is not {WORDS[shape]}"
