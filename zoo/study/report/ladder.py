"""What each change contributes, with its interval."""

from zoo.page import Axis, Block, Cell, Column, Figure, Section, Table, height_of, intervals, trimmed
from zoo.study.report.findings import Findings
from zoo.study.report.numbers import listed, plus
from zoo.study.report.verdicts import interval
from zoo.study.verdict import Row

TITLE = "Contribution of each change"


def section(findings: Findings) -> Section:
    """A forest of intervals: in a chain each change on top of those before it, and all up to it together."""
    rows = [row for row in findings.rows if row.difference is not None]
    title = f"Ladder: {TITLE.lower()}" if findings.question.chain else TITLE
    if not rows:
        return Section("ladder", title, missing="No two variants have a score of the same seed yet.")
    total = {row.variant: row for row in findings.from_reference if row.difference is not None}
    names = [row.variant for row in rows]
    marks = [_mark("this change" if total else "difference", rows, 0, legend=bool(total))]
    if total:
        marks.append(_mark("all changes up to it", list(total.values()), 1))
    others = {row.against for row in rows}
    against = f"`{others.pop()}`" if len(others) == 1 else "the one that it is compared with"
    figure = Figure(
        _title(rows, against),
        marks,
        Axis(f"difference of {findings.question.metric} ({findings.unit}), 95 % interval"),
        Axis("", categories=tuple(reversed(names))),
        _table(findings, rows, total),
        height=height_of(names) + 40 * bool(total),
        zero="x",
    )
    blocks: list[Block] = [figure]
    return Section("ladder", title, blocks)


def _title(rows: list[Row], against: str) -> str:
    clear = [row for row in rows if row.verdict in ("better", "worse")]
    largest = max(rows, key=lambda row: abs(row.difference.mean) if row.difference else 0.0)
    mean = largest.difference.mean if largest.difference else 0.0
    most = f"the largest difference to {against} is that of `{largest.variant}` ({plus(mean)})"
    if not clear:
        return f"No change is told from noise; {most}"
    return f"{len(clear)} of {len(rows)} changes are told from noise ({listed([row.variant for row in clear])}); {most}"


def _mark(name: str, rows: list[Row], slot: int, legend: bool = True) -> dict[str, object]:
    found = [(row.variant, row.difference) for row in rows if row.difference is not None]
    low = [one.mean if one.low is None else one.low for _, one in found]
    high = [one.mean if one.high is None else one.high for _, one in found]
    return intervals(name, [one.mean for _, one in found], [v for v, _ in found], low, high, slot, legend=legend)


def _table(findings: Findings, rows: list[Row], total: dict[str, Row]) -> Table:
    columns = [Column("variant"), Column(f"change ({findings.unit})", 4, sign=True), Column("95 % interval")]
    columns += [Column("all up to it", 4, sign=True), Column("95 % interval")] if total else []
    cells: list[list[Cell]] = []
    for row in rows:
        whole = total.get(row.variant)
        cells.append([row.variant, *_change(row)])
        if whole is not None and whole.difference is not None:
            cells[-1] += _change(whole)
        elif total:
            cells[-1] += [None, None]
    return trimmed(Table(columns, cells))


def _change(row: Row) -> list[Cell]:
    """Its mean, and the interval where there is one."""
    found = row.difference
    return [None, None] if found is None else [found.mean, None if found.low is None else interval(row)]
