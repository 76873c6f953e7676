"""Gradient norm by layer: before training, after it, and on the way."""

import re
from collections.abc import Mapping, Sequence

from zoo.page import Axis, Block, Cell, Column, Figure, Section, Table, line
from zoo.study.report.findings import Findings
from zoo.study.report.numbers import at, grid, mean, series
from zoo.study.run import Run

TITLE = "Gradient norm per layer"
MOMENTS = {"initial": "At the start", "final": "At the end"}

LAYER = re.compile(r"(?P<stack>.*)\.(?P<layer>[0-9]+)\.(?P<kind>[^.]+)")
"""The name of a sublayer, as in topology.stack.blocks.3.ffn."""

Norms = Mapping[str, Mapping[str, float]]
"""By variant and sublayer; means over seeds."""


def section(findings: Findings) -> Section:
    """For each kind of sublayer a figure over the layers, before and after training, and one over the steps for its
    last layer; at last a table of all."""
    evidence = findings.evidence
    blocks: list[Block] = []
    tables: list[Block] = []
    for moment, words in MOMENTS.items():
        norms = {name: one for name in evidence.shown if (one := _norms(evidence.done(name), moment))}
        if norms:
            blocks += [_over_layers(findings, f"{words} of training", kind, norms) for kind in _kinds(norms)]
            tables.append(_table(f"{words} of training", norms))
    blocks += _over_steps(findings)
    if not blocks and not tables:
        return Section("gradients", TITLE, missing="No run has written gradient norms (`record.gradients_every=100`).")
    return Section("gradients", TITLE, [*blocks, *tables])


def _norms(runs: Sequence[Run], moment: str) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for run in runs:
        for part, norm in (run.gradients.get(moment) or {}).items():
            if isinstance(norm, int | float):
                found.setdefault(part, []).append(float(norm))
    return {part: sum(one) / len(one) for part, one in found.items()}


def _kinds(norms: Norms) -> list[str]:
    """What the layers consist of; their norms are in the table alone: next to matrices they are always small."""
    found = [match["kind"] for one in norms.values() for part in one if (match := LAYER.fullmatch(part))]
    return [kind for kind in dict.fromkeys(found) if "norm" not in kind]


def _layers(one: Mapping[str, float], kind: str) -> dict[str, float]:
    """The norms of that kind by layer, in their order; counted from 1, with the name of the stack where it is not the
    only one."""
    found = [(match, norm) for part, norm in one.items() if (match := LAYER.fullmatch(part)) and match["kind"] == kind]
    several = len({match["stack"] for match, _ in found}) > 1
    place = {match["stack"]: i for i, (match, _) in reversed(list(enumerate(found)))}
    found.sort(key=lambda pair: (place[pair[0]["stack"]], int(pair[0]["layer"])))
    words = {stack: f"{stack.removesuffix('.blocks').rpartition('.')[2]} " if several else "" for stack in place}
    return {f"{words[match['stack']]}{int(match['layer']) + 1}": norm for match, norm in found}


def _over_layers(findings: Findings, when: str, kind: str, norms: Norms) -> Figure:
    lines = {name: found for name, one in norms.items() if (found := _layers(one, kind))}
    layers = list(dict.fromkeys(layer for one in sorted(lines.values(), key=len, reverse=True) for layer in one))
    marks = [
        line(name, layers, [one.get(layer) for layer in layers], findings.evidence.slot(name), dots=True)
        for name, one in lines.items()
    ]
    rows: list[list[Cell]] = [[name, *(one.get(layer) for layer in layers)] for name, one in lines.items()]
    table = Table([Column("variant"), *(Column(f"layer {layer}") for layer in layers)], rows, "gradient norm")
    ends = {name: list(one.values()) for name, one in lines.items()}
    ratios = {name: one[-1] / one[0] for name, one in ends.items() if one[0]}
    title = f"{when}: the gradient of each {kind}, {len(layers)} layers"
    if ratios:
        low, high = min(ratios, key=lambda name: ratios[name]), max(ratios, key=lambda name: ratios[name])
        title = f"{when} the gradient of the last {kind} is {ratios[low]:.2f} times that of the first with `{low}`"
        title += f", {ratios[high]:.2f} times with `{high}`" if low != high else ""
    return Figure(title, marks, Axis("layer", categories=layers), Axis("gradient norm", log=True), table)


def _over_steps(findings: Findings) -> list[Figure]:
    """A line a variant for the last layer of each kind."""
    evidence = findings.evidence
    histories = {name: [run.gradient_history for run in evidence.done(name)] for name in evidence.shown}
    last: dict[str, dict[str, str]] = {}
    for name, runs in histories.items():
        for part in dict.fromkeys(key for run in runs for point in run for key in point):
            if match := LAYER.fullmatch(part):
                last.setdefault(match["kind"], {})[name] = part
    figures = []
    for kind in (one for one in last if "norm" not in one):
        marks: list[dict[str, object]] = []
        rows: list[list[Cell]] = []
        for name, part in last[kind].items():
            lines = [series(run, "step", part) for run in histories[name]]
            places = grid(lines)
            values = [mean([y for one in lines if (y := at(one, x)) is not None]) or 0.0 for x in places]
            if places:
                marks.append(line(name, places, values, evidence.slot(name), dots=True))
                rows.append([name, values[0], values[-1]])
        if rows:
            figures.append(_history(kind, marks, rows))
    return figures


def _history(kind: str, marks: list[dict[str, object]], rows: list[list[Cell]]) -> Figure:
    moves = {str(row[0]): float(str(row[2])) / float(str(row[1])) for row in rows if row[1]}
    name = max(moves, key=lambda one: abs(moves[one] - 1)) if moves else str(rows[0][0])
    title = f"In training the gradient of the last {kind} moves most with `{name}`, to {moves.get(name, 1.0):.2f} times"
    columns = [Column("variant"), Column("first"), Column("last")]
    return Figure(
        f"{title} the first one logged",
        marks,
        Axis("step"),
        Axis("gradient norm", log=True),
        Table(columns, rows, "gradient norm, of the batch of a step"),
    )


def _table(when: str, norms: Norms) -> Table:
    parts = list(dict.fromkeys(part for one in sorted(norms.values(), key=len, reverse=True) for part in one))
    columns = [Column("sublayer"), *(Column(name) for name in norms)]
    return Table(columns, [[p, *(one.get(p) for one in norms.values())] for p in parts], f"{when}: gradient norm")
