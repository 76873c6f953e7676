"""What the study cost."""

from zoo.page import Cell, Column, Section, Table
from zoo.study.report.findings import Findings
from zoo.study.report.numbers import mean
from zoo.study.run import Run

TITLE = "Cost"


def section(findings: Findings) -> Section:
    """Runs, tokens and seconds of each variant, tuning included."""
    rows: list[list[Cell]] = []
    total = 0.0
    for name in findings.question.names:
        runs = [run for run in findings.evidence.runs if run.variant == name]
        seconds = [one for run in runs if (one := _last(run, "seconds")) is not None]
        tokens = [one for run in runs if (one := _last(run, "tokens")) is not None]
        total += sum(seconds)
        speed = [point["tokens_per_second"] for run in runs for point in run.train if point.get("tokens_per_second")]
        rows.append([name, len(runs), sum(tokens), mean(seconds), sum(seconds), mean(speed)])
    if not total:
        return Section("cost", TITLE, missing="No run has logged its time yet.")
    columns = [
        Column("variant"),
        Column("runs"),
        Column("training tokens", 0),
        Column("seconds a run", 1),
        Column("seconds", 0),
        Column("tokens per second", 0),
    ]
    said = (
        f"Training took {total:,.0f} seconds in all, summed over runs, those of tuning included; validation and set-up"
        " are not in it. Runs that shared the machine with others took longer than alone."
    )
    return Section("cost", TITLE, [said, Table(columns, rows)])


def _last(run: Run, key: str) -> float | None:
    points = [points[-1].get(key) for points in (run.train, run.validation) if points]
    numbers = [float(one) for one in points if isinstance(one, int | float)]
    return max(numbers) if numbers else None
