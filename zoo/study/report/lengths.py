"""Train short, test long: loss by the length of the text."""

import statistics

from zoo.page import Axis, Column, Figure, Section, Table, line
from zoo.study.report.findings import Findings
from zoo.study.report.numbers import listed, mean
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
    trained = (evidence.basis or {}).get("budget.context")
    columns = [Column("variant"), *(Column(f"{length:,} tokens", 3) for length in lengths)]
    columns.append(Column(f"sd at {lengths[-1]:,}", 3))
    rows = [
        [name, *(mean(one.get(length, [])) for length in lengths), _sd(one.get(lengths[-1], []))]
        for name, one in found.items()
    ]
    notes = [f"All were trained at {trained:,} positions."] if isinstance(trained, int) else []
    notes += [f"`{name}`: {why}." for name in found if (why := _why(evidence.done(name)))]
    figure = Figure(
        _title(found, what, trained),
        marks,
        Axis("context length (tokens)", log=True),
        Axis(f"{what} (nats per token)"),
        Table(columns, rows, f"{what} (nats per token)"),
        " ".join(notes),
    )
    return Section("lengths", TITLE, [figure])


def _sd(values: list[float]) -> float | None:
    return statistics.stdev(values) if len(values) > 1 else None


def _why(runs: list[Run]) -> str:
    """Why there are lengths that the runs cannot read; nothing when there are none."""
    return next((str(point["why"]) for run in runs for point in run.lengths if point.get("why")), "")


def _by_length(runs: list[Run]) -> dict[int, list[float]]:
    found: dict[int, list[float]] = {}
    for run in runs:
        for point in run.lengths:
            if isinstance(point.get("loss"), int | float) and isinstance(point.get("context"), int):
                found.setdefault(point["context"], []).append(point["loss"] - (point.get("floor") or 0.0))
    return found


def _title(found: dict[str, dict[int, list[float]]], what: str, trained: object) -> str:
    """How the loss changes from the trained length (else the shortest) to the longest, where both are known."""
    lengths = sorted({length for one in found.values() for length in one})
    first, last = trained if isinstance(trained, int) and trained in lengths else lengths[0], lengths[-1]
    whole = {name: one for name, one in found.items() if first in one and last in one}
    growth = {name: (mean(one[last]) or 0.0) - (mean(one[first]) or 0.0) for name, one in whole.items()}
    ends = f"{first:,} to {last:,} tokens"
    least, most = (pick(growth, key=lambda n: growth[n], default="") for pick in (min, max))
    if not growth:
        said = f"No variant was scored at {first:,} and at {last:,} tokens"
    elif least == most:
        whose = f"`{least}`" if len(growth) == 1 else "each variant"
        said = f"From {ends} the {what} of {whose} changes by {growth[least]:+.3f}"
    else:
        said = f"From {ends} the {what} changes by {growth[least]:+.3f} with `{least}` and by {growth[most]:+.3f} with"
        said += f" `{most}`"
    cannot = [name for name, one in found.items() if last not in one]
    said += f"; {listed(cannot)} cannot read {last:,}" if cannot else ""
    return said.replace("-", "−")
