"""Loss over training, with the band of the seeds."""

from zoo.page import Axis, Column, Figure, Section, Table, band, line
from zoo.study.report.findings import Findings
from zoo.study.report.numbers import Series, alike, at, grid, mean, series, spread
from zoo.study.run import Run

SHARES = (0.25, 0.5, 1.0)
FEWEST = 3
"""Validations from which a curve is drawn of them; else it is that of the training batches."""


def section(findings: Findings) -> Section:
    """Mean over seeds, and from the least to the greatest of them."""
    evidence = findings.evidence
    runs = {name: evidence.done(name) for name in evidence.shown}
    split = "validation" if all(_enough(run) for one in runs.values() for run in one) else "training"
    lines = {name: [_line(run, split) for run in one] for name, one in runs.items()}
    lines = {name: [one for one in some if len(one[0]) > 1] for name, some in lines.items()}
    lines = {name: some for name, some in lines.items() if some}
    if not lines:
        return Section("curves", "Loss curves", missing="No run has logged two losses yet.")
    marks = []
    for name, some in lines.items():
        slot, places = evidence.slot(name), grid(some)
        values = [[y for one in some if (y := at(one, x)) is not None] for x in places]
        if len(some) > 1:
            marks.append(band(name, places, [min(y) for y in values], [max(y) for y in values], slot))
        marks.append(line(name, places, [mean(y) for y in values], slot))
    note = "Bands reach from the least to the greatest seed."
    if split == "training":
        note += " There are fewer than three validations a run, so these are losses of training batches."
    elif _partial(runs):
        note += " All points score the same part of the split; the last validation, of the whole, is not among them."
    figure = Figure(
        _title(lines, split),
        marks,
        Axis("training tokens (positions)"),
        Axis(f"{split} loss (nats per token)"),
        _table(lines),
        note,
        height=440,
    )
    return Section("curves", "Loss curves", [figure])


def _enough(run: Run) -> bool:
    return len(alike(run.validation)) >= FEWEST


def _line(run: Run, split: str) -> Series:
    return series(alike(run.validation) if split == "validation" else run.train, "tokens")


def _partial(runs: dict[str, list[Run]]) -> bool:
    counts = [[one.get("scored") for one in run.validation] for some in runs.values() for run in some]
    return any(one and one[0] != one[-1] for one in counts)


def _ends(lines: list[Series]) -> list[float]:
    return [one[1][-1] for one in lines]


def _title(lines: dict[str, list[Series]], split: str) -> str:
    ends = {name: mean(_ends(some)) or 0.0 for name, some in lines.items()}
    best = min(ends, key=lambda name: ends[name])
    if len(ends) == 1:
        return f"`{best}` ends at a {split} loss of {ends[best]:.4f}"
    worst = max(ends, key=lambda name: ends[name])
    if worst == best:
        return f"All end at a {split} loss of {ends[best]:.4f}"
    return f"`{best}` ends lowest, at a {split} loss of {ends[best]:.4f}, and `{worst}` highest, at {ends[worst]:.4f}"


def _table(lines: dict[str, list[Series]]) -> Table:
    columns = [Column("variant"), Column("seeds")]
    columns += [Column(f"loss at {share:.0%} of the tokens", 4) for share in SHARES]
    rows = []
    for name, some in lines.items():
        at_share = [[y for one in some if (y := at(one, share * one[0][-1])) is not None] for share in SHARES]
        rows.append([name, len(some), *(mean(one) for one in at_share), spread(_ends(some))])
    return Table([*columns, Column("least … greatest seed")], rows)
