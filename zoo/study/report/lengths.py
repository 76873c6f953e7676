"""Train short, test long: loss by the length of the text."""

from zoo.page import Axis, Column, Figure, Section, Table, line
from zoo.study.report.findings import Findings
from zoo.study.report.numbers import mean
from zoo.study.run import Run

TITLE = "Length extrapolation"


def section(findings: Findings) -> Section:
    """One line a variant over context lengths; above the floor where it is known."""
    evidence = findings.evidence
    found = {name: _by_length(evidence.done(name)) for name in evidence.shown}
    found = {name: one for name, one in found.items() if one}
    if not found:
        return Section("lengths", TITLE, missing="No run was scored at other lengths (`record.lengths=[64,128,256]`).")
    lengths = sorted({length for one in found.values() for length in one})
    above = any("floor" in point for name in found for run in evidence.done(name) for point in run.lengths)
    what = "test loss above the floor" if above else "test loss"
    marks = [
        line(name, sorted(one), [mean(one[length]) for length in sorted(one)], evidence.slot(name), dots=True)
        for name, one in found.items()
    ]
    rows = [[name, *(mean(one.get(length, [])) for length in lengths)] for name, one in found.items()]
    table = Table(
        [Column("variant"), *(Column(f"{length:,} tokens", 3) for length in lengths)], rows, f"{what} (nats per token)"
    )
    trained = (evidence.basis or {}).get("budget.context")
    note = f"All were trained at {trained:,} positions." if isinstance(trained, int) else ""
    figure = Figure(
        _title(found, what),
        marks,
        Axis("context length (tokens)", log=True),
        Axis(f"{what} (nats per token)"),
        table,
        note,
    )
    return Section("lengths", TITLE, [figure])


def _by_length(runs: list[Run]) -> dict[int, list[float]]:
    found: dict[int, list[float]] = {}
    for run in runs:
        for point in run.lengths:
            if isinstance(point.get("loss"), int | float) and isinstance(point.get("context"), int):
                found.setdefault(point["context"], []).append(point["loss"] - (point.get("floor") or 0.0))
    return found


def _title(found: dict[str, dict[int, list[float]]], what: str) -> str:
    growth = {name: (mean(one[max(one)]) or 0.0) - (mean(one[min(one)]) or 0.0) for name, one in found.items()}
    least, most = min(growth, key=lambda n: growth[n]), max(growth, key=lambda n: growth[n])
    ends = f"{min(found[least]):,} to {max(found[least]):,} tokens"
    if len(growth) == 1:
        return f"From {ends} the {what} of `{least}` changes by {growth[least]:+.3f}".replace("-", "−")
    return (
        f"From {ends} the {what} grows least with `{least}` ({growth[least]:+.3f})"
        f" and most with `{most}` ({growth[most]:+.3f})"
    ).replace("-", "−")
