"""Gradient norm per sublayer: at the start, at the end and on the way."""

from collections.abc import Mapping

from zoo.page import Axis, Block, Cell, Column, Figure, Section, Table, line
from zoo.study.report.findings import Findings
from zoo.study.report.numbers import at, grid, mean, series
from zoo.study.run import Run

TITLE = "Gradient norm per layer"
MOMENTS = {"initial": "At the start", "final": "At the end"}
LINES = 8
"""Sublayers that are drawn over training."""
CHARTS = 3
"""Variants whose training is drawn: the first ones, and the last."""


def section(findings: Findings) -> Section:
    """One figure for each moment, and one for each variant over training."""
    evidence = findings.evidence
    blocks: list[Block] = []
    for moment in MOMENTS:
        norms = {name: _norms(evidence.done(name), moment) for name in evidence.shown}
        norms = {name: one for name, one in norms.items() if one}
        if norms:
            blocks.append(_profile(findings, moment, norms))
    shown = evidence.shown
    for name in dict.fromkeys([*shown[: CHARTS - 1], *shown[-1:]]):
        figure = _history(name, evidence.done(name))
        if figure is not None:
            blocks.append(figure)
    if not blocks:
        why = "No run has written gradient norms (`record.gradients_every=100`)."
        return Section("gradients", TITLE, missing=why)
    return Section("gradients", TITLE, blocks)


def _norms(runs: list[Run], moment: str) -> dict[str, float]:
    """Mean over seeds by sublayer."""
    found: dict[str, list[float]] = {}
    for run in runs:
        for part, norm in (run.gradients.get(moment) or {}).items():
            if isinstance(norm, int | float):
                found.setdefault(part, []).append(float(norm))
    return {part: sum(one) / len(one) for part, one in found.items()}


def _profile(findings: Findings, moment: str, norms: Mapping[str, Mapping[str, float]]) -> Figure:
    parts = list(dict.fromkeys(part for one in norms.values() for part in one))
    marks = [
        line(name, parts, [one.get(part) for part in parts], findings.evidence.slot(name), dots=True)
        for name, one in norms.items()
    ]
    table = Table(
        [Column("sublayer"), *(Column(name) for name in norms)],
        [[p, *(one.get(p) for one in norms.values())] for p in parts],
    )
    ratios = {name: max(one.values()) / min(one.values()) for name, one in norms.items() if min(one.values()) > 0}
    title = f"{MOMENTS[moment]} of training"
    if ratios:
        steep = max(ratios, key=lambda name: ratios[name])
        title += f" the norms differ most between the layers of `{steep}`: by a factor of {ratios[steep]:.1f}"
    return Figure(title, marks, Axis("sublayer", categories=parts), Axis("gradient norm", log=True), table)


def _history(name: str, runs: list[Run]) -> Figure | None:
    """Mean over seeds of some sublayers, evenly chosen from the first to the last."""
    parts = list(dict.fromkeys(key for run in runs for point in run.gradient_history for key in point if key != "step"))
    if not parts:
        return None
    chosen = [parts[i] for i in sorted({round(i * (len(parts) - 1) / (LINES - 1)) for i in range(LINES)})]
    marks, ends = [], {}
    for slot, part in enumerate(chosen):
        lines = [series(run.gradient_history, "step", part) for run in runs]
        places = grid(lines)
        values = [mean([y for one in lines if (y := at(one, x)) is not None]) or 0.0 for x in places]
        if places:
            marks.append(line(part, places, values, slot))
            ends[part] = (values[0], values[-1])
    if not ends:
        return None
    most = max(ends, key=lambda part: abs(ends[part][1] - ends[part][0]))
    rows: list[list[Cell]] = [[part, *both] for part, both in ends.items()]
    table = Table([Column("sublayer"), Column("first"), Column("last")], rows, "gradient norm")
    title = f"`{name}` in training: {most} moves most, from {ends[most][0]:.3g} to {ends[most][1]:.3g}"
    return Figure(title, marks, Axis("step"), Axis("gradient norm", log=True), table)
