"""What `match=` asks for, and a model that is made as large as another."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from zoo.config import refuse_unknown
from zoo.errors import UserError
from zoo.matching.solve import TARGETS, sizes_of, solve
from zoo.schema import convert

KEYS = ("target", "reference", "tolerance")

Report = dict[str, Any]


@dataclass(frozen=True)
class Match:
    """The `match` of a config."""

    target: str
    reference: Any
    """What the other model is composed from."""
    tolerance: float


def parse_match(node: Mapping[str, Any] | None) -> Match | None:
    """The node as it is meant; None when nothing is to be matched. Raises UserError for a wrong one."""
    values = dict(node or {"target": "none"})
    refuse_unknown(values, KEYS, "match.")
    target = convert(values.get("target"), Literal["none", "params", "active_params", "flops", "state"], "match.target")
    if target == "none":
        return None
    tolerance = convert(values.get("tolerance"), float, "match.tolerance")
    if not 0 < tolerance < 1:
        raise UserError(f"match.tolerance={tolerance} must lie between 0 and 1; 0.01 is one per cent")
    return Match(target, values.get("reference"), tolerance)


def match(
    wanted: Match, model: Mapping[str, Any], reference: Mapping[str, Any], vocabulary: int, context: int
) -> tuple[dict[str, Any], Report]:
    """The node of a model with the number that was solved for, and how near it came to that of the reference. Of what
    the reference has none of (an encoder keeps no state) nothing is reported. Raises UserError for a target that it has
    none of, and when a model does not fit together."""

    def measure(node: Mapping[str, Any]) -> dict[str, float]:
        return sizes_of(node, vocabulary, context)

    target, sizes = wanted.target, measure(reference)
    if not sizes[target]:
        raise UserError(f"match.target={target}: the reference has none; choose another target or match.reference")
    found, solved, why_not = solve(model, target, sizes[target], measure, wanted.tolerance)
    got = measure(found)
    report = {
        "target": target,
        "wanted": sizes[target],
        "got": got[target],
        "residual": got[target] / sizes[target] - 1,
        "solved": None if solved is None else f"{solved.key}={solved.value}",
        "not_matched": {key: got[key] / sizes[key] - 1 for key in TARGETS if key != target and sizes[key]},
        "why_not": why_not,
    }
    return found, report


def as_words(report: Report) -> str:
    """A line about it."""
    solved = "as it is" if report["solved"] is None else f"with {report['solved']}"
    reached = f"{report['got']:,.0f} of {report['wanted']:,.0f} ({report['residual']:+.2%})"
    text = f"match: {report['target']} {reached} {solved}"
    return text if report["why_not"] is None else f"{text}; {report['why_not']}"
