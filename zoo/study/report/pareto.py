"""Quality against what it costs: parameters, operations, seconds, state."""

from collections.abc import Callable

from zoo.page import Axis, Block, Column, Figure, Section, Table, dots
from zoo.study.metric import read_metric
from zoo.study.report.findings import Findings
from zoo.study.report.numbers import listed, mean
from zoo.study.run import Run
from zoo.study.tables import state_bytes

TITLE = "Quality against cost"
CAPTION = "Means over seeds; seconds are longer where other work ran on the machine"


def _seconds(run: Run) -> float | None:
    found = run.validation[-1].get("seconds") if run.validation else None
    return float(found) if isinstance(found, int | float) else None


COSTS: dict[str, Callable[[Run], int | float | None]] = {
    "parameters": lambda run: run.cost("parameters"),
    "forward FLOPs per token": lambda run: run.cost("flops_per_token"),
    "training time (seconds)": _seconds,
    "state (bytes per row)": state_bytes,
}


def section(findings: Findings) -> Section:
    """A chart for each cost that differs, one table for all; on the front is what nothing beats on both counts."""
    evidence, metric = findings.evidence, findings.question.metric
    quality: dict[str, float] = {}
    for name in evidence.shown:
        values = [value for run in evidence.done(name) if (value := run.value(metric)) is not None]
        if values:
            quality[name] = sum(values) / len(values)
    costs = {what: {name: _mean(findings, name, of) for name in quality} for what, of in COSTS.items()}
    known = {what: {n: v for n, v in one.items() if v is not None} for what, one in costs.items()}
    known = {what: one for what, one in known.items() if len(one) > 1}
    if len(quality) < 2 or not known:
        return Section("pareto", TITLE, missing="It needs two variants with scores and costs.")
    fronts = {what: front(one, quality, read_metric(metric).sign) for what, one in known.items()}
    rows = [
        [name, value, *(costs[what][name] for what in known), ", ".join(what for what in known if name in fronts[what])]
        for name, value in quality.items()
    ]
    columns = [
        Column("variant"),
        Column(f"{metric} ({findings.unit})", 4),
        *(Column(what, _digits(one)) for what, one in known.items()),
    ]
    table = Table([*columns, Column("on the front of")], rows, CAPTION)
    charts: list[Block] = []
    for what, one in known.items():
        if len(set(one.values())) == 1:
            continue
        marks = [dots(name, [value], [quality[name]], evidence.slot(name)) for name, value in one.items()]
        title = f"{what[0].upper()}{what[1:]}: {listed(fronts[what])} on the front"
        y = Axis(f"{metric} ({findings.unit})")
        charts.append(Figure(title, marks, Axis(what, log=_wide(list(one.values()))), y))
    same = [what for what, one in known.items() if len(set(one.values())) == 1]
    said = [f"All variants have the same {', '.join(same)}."] if same else []
    return Section("pareto", TITLE, [*charts, *said, table])


def front(costs: dict[str, float], quality: dict[str, float], sign: int) -> list[str]:
    """Variants than which no other is both cheaper and better, or one of the two and as good in the other."""

    def beaten(name: str) -> bool:
        cost, value = costs[name], sign * quality[name]
        others = [(costs[one], sign * quality[one]) for one in costs if one != name]
        return any(c <= cost and q <= value and (c, q) != (cost, value) for c, q in others)

    return [name for name in costs if not beaten(name)]


def _mean(findings: Findings, name: str, of: Callable[[Run], int | float | None]) -> float | None:
    return mean([value for run in findings.evidence.done(name) if (value := of(run)) is not None])


def _wide(values: list[float]) -> bool:
    return min(values) > 0 and max(values) > 5 * min(values)


def _digits(one: dict[str, float]) -> int:
    return 0 if min(one.values()) >= 100 else 2
