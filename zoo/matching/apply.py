"""`match=` of a run: the model is made as large as its reference before the run gets its name."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from hydra.core.hydra_config import HydraConfig

from zoo.command.compose import compose
from zoo.config import plain, refuse_unknown
from zoo.errors import UserError
from zoo.families import AXES
from zoo.matching.solve import TARGETS, sizes_of, solve
from zoo.schema import convert
from zoo.study.overrides import key_of

KEYS = ("target", "reference", "tolerance")

Report = dict[str, Any]


def match(
    node: Mapping[str, Any] | None, config: Mapping[str, Any], overrides: Sequence[str], vocabulary: int
) -> tuple[dict[str, Any], Report | None]:
    """The config with the number that was solved for, and how near it came; as it is when nothing is to be matched.
    `node` is the config's `match`, `overrides` are those of the command line. Of what the reference has none of (an
    encoder keeps no state) nothing is reported. Raises UserError for a wrong `match`, for a target that the reference
    has none of, and when a model does not fit together."""
    values = dict(node or {"target": "none"})
    refuse_unknown(values, KEYS, "match.")
    target = convert(values.get("target"), Literal["none", "params", "active_params", "flops", "state"], "match.target")
    if target == "none":
        return dict(config), None
    tolerance = convert(values.get("tolerance"), float, "match.tolerance")
    if not 0 < tolerance < 1:
        raise UserError(f"match.tolerance={tolerance} must lie between 0 and 1; 0.01 is one per cent")
    context = config["budget"]["context"]

    def measure(model: Mapping[str, Any]) -> dict[str, float]:
        return sizes_of(model, vocabulary, context)

    reference = measure(plain(compose(reference_overrides(values.get("reference"), overrides)))["model"])
    if not reference[target]:
        raise UserError(f"match.target={target}: the reference has none; choose another target or match.reference")
    model, solved, why_not = solve(config["model"], target, reference[target], measure, tolerance)
    got = measure(model)
    report = {
        "target": target,
        "wanted": reference[target],
        "got": got[target],
        "residual": got[target] / reference[target] - 1,
        "solved": None if solved is None else f"{solved.key}={solved.value}",
        "not_matched": {key: got[key] / reference[key] - 1 for key in TARGETS if key != target and reference[key]},
        "why_not": why_not,
    }
    return {**config, "model": model}, report


def reference_overrides(reference: Any, overrides: Sequence[str]) -> list[str]:
    """What the reference is composed from. null: the same command without its part swaps and values inside parts; a
    text: that whole model at the same sizes; a list: these overrides."""
    searchpath = []
    if HydraConfig.initialized():
        searchpath = [one for one in HydraConfig.get().overrides.hydra if key_of(one) == "hydra.searchpath"]
    chosen = convert(reference, str | tuple[str, ...] | None, "match.reference")
    if isinstance(chosen, tuple):
        return [*searchpath, *chosen]
    kept = [one for one in overrides if not _of_a_part(key_of(one))]
    if chosen is not None:
        kept = [f"model={chosen}", *(one for one in kept if key_of(one) != "model")]
    return [*searchpath, *kept]


def _of_a_part(key: str) -> bool:
    """Whether an override swaps a part, sets a value inside one, or asks for the matching itself."""
    names = key.partition("@")[0].replace("/", ".").split(".")
    return names[0] == "match" or (len(names) > 1 and names[0] == "model" and names[1] in (*AXES, "cross"))


def as_words(report: Report) -> str:
    """A line about it."""
    solved = "as it is" if report["solved"] is None else f"with {report['solved']}"
    reached = f"{report['got']:,.0f} of {report['wanted']:,.0f} ({report['residual']:+.2%})"
    text = f"match: {report['target']} {reached} {solved}"
    return text if report["why_not"] is None else f"{text}; {report['why_not']}"
