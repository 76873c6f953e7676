"""All scores: every seed of every variant, none hidden in a mean."""

import statistics

from zoo.page import Axis, Cell, Column, Figure, Section, Table, line, trimmed
from zoo.study.metric import read_metric
from zoo.study.report.findings import Findings
from zoo.study.report.numbers import mean, spread
from zoo.study.run import Run

TITLE = "All scores"
MARKED = 16
"""Seeds that are drawn; the table is of all."""


def section(findings: Findings) -> Section:
    """A line a seed over the variants: where they are parallel, pairing by seed takes the noise away."""
    evidence, metric = findings.evidence, findings.question.metric
    found: dict[str, dict[int, float]] = {}
    for name in evidence.shown:
        scores = {run.seed: value for run in evidence.done(name) if (value := run.value(metric)) is not None}
        if scores:
            found[name] = scores
    if not found:
        return Section("points", TITLE, missing=f"No run has a {metric} yet.")
    seeds = sorted({seed for one in found.values() for seed in one})
    marks = [
        line(f"seed {seed}", list(found), [one.get(seed) for one in found.values()], slot, dots=True)
        for slot, seed in enumerate(seeds[:MARKED])
    ]
    rows = [_row(name, list(scores.values()), evidence.done(name)) for name, scores in found.items()]
    columns = [Column("variant"), Column("seeds"), Column(f"{metric} ({findings.unit})", 4), Column("sd", 4)]
    as_trained = "" if read_metric(metric).context is None else ", as trained"
    columns += [Column("least … greatest seed"), Column(f"bits per byte{as_trained}", 4)]
    columns += [Column(f"accuracy{as_trained}", 4)]
    figure = Figure(
        _title(found),
        marks,
        Axis("variant", categories=list(found)),
        Axis(f"{metric} ({findings.unit})"),
        trimmed(Table(columns, rows, "Means over seeds, on the test split")),
        "Where lines are parallel a seed makes all variants better or worse alike, and pairing takes that out.",
        height=420,
    )
    return Section("points", TITLE, [figure])


def _row(name: str, values: list[float], runs: list[Run]) -> list[Cell]:
    sd = statistics.stdev(values) if len(values) > 1 else None
    others = [_mean_of(runs, key) for key in ("bits_per_byte", "accuracy")]
    return [name, len(values), mean(values), sd, spread(values, 4), *others]


def _mean_of(runs: list[Run], key: str) -> float | None:
    return mean([value for run in runs if (value := run.value(f"test {key}")) is not None])


def _title(found: dict[str, dict[int, float]]) -> str:
    """How far seeds are apart, where a variant has two, beside how far variants are."""
    means = [mean(list(one.values())) or 0.0 for one in found.values()]
    ranges = [max(one.values()) - min(one.values()) for one in found.values() if len(one) > 1]
    between = f"{max(means) - min(means):.4f}"
    if not ranges:
        variants = f"; the variants differ by up to {between}" if len(means) > 1 else ""
        return f"One seed of each variant: how far seeds differ is not known{variants}"
    variants = f", the means of the variants by {between}" if len(means) > 1 else ""
    return f"Seeds of one variant differ by up to {max(ranges):.4f}{variants}"
