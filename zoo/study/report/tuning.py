"""How each variant was tuned: its curve, its best value, and whether a better one may lie beyond the grid."""

import math

from zoo.number import counted
from zoo.page import Axis, Block, Column, Figure, Section, Table, Word, line
from zoo.study.choice import Choice
from zoo.study.report.findings import Findings
from zoo.study.report.numbers import listed

TITLE = "Tuning"


def section(findings: Findings) -> Section:
    """A table of efforts and choices, and a curve for each key that was tuned."""
    question, choices = findings.question, findings.evidence.choices
    if not question.tuning:
        return Section("tuning", TITLE, missing="Nothing was tuned: every variant ran with the same values.")
    if not choices:
        return Section("tuning", TITLE, missing="No tuning run has come to its end yet.")
    efforts = {name: choices[name].runs if name in choices else 0 for name in question.names}
    least, most = min(efforts.values()), counted(max(efforts.values()), "run")
    equal = len(set(efforts.values())) == 1
    effort = (
        f"Every variant was tuned with {most}, chosen on validation, judged on test."
        if equal
        else f"The tuning effort is not equal, from {least} to {most} a variant."
    )
    edges = [name for name, one in choices.items() if one.edges]
    warning = (
        [f"The best value lies at the edge of the grid for {listed(edges)}: a better one may lie beyond."]
        if edges
        else []
    )
    keys = list(question.tuning)
    rows = [
        [
            name,
            *(_cell(choice, key) for key in keys),
            _finite(min(choice.losses.values())),
            choice.runs,
            len(choice.seeds),
            _place(choice),
        ]
        for name, choice in choices.items()
    ]
    columns = [
        Column("variant"),
        *(Column(f"best {key}") for key in keys),
        Column("validation loss (nats per token)", 4),
    ]
    table = Table([*columns, Column("tuning runs"), Column("seeds"), Column("place in the grid")], rows)
    blocks: list[Block] = [effort, *warning, table]
    return Section(
        "tuning", TITLE, [*blocks, *(_curve(findings, key) for key in keys if len(question.tuning[key]) > 1)]
    )


def _cell(choice: Choice, key: str) -> str | float | None:
    value = choice.best.get(key)
    return value if isinstance(value, int | float | None) else str(value)


def _place(choice: Choice) -> str | Word | None:
    if not math.isfinite(min(choice.losses.values())):
        return None
    return Word("at the edge", "open") if choice.edges else "inside"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _curve(findings: Findings, key: str) -> Figure:
    """Loss by the values of a key, at the best of the other keys."""
    values = list(findings.question.tuning[key])
    numbers = all(isinstance(one, int | float) for one in values)
    places: list[float | str] = sorted(values) if numbers else [str(one) for one in values]
    marks, rows = [], []
    for name, choice in findings.evidence.choices.items():
        best: dict[float | str, float] = {}
        for tuning, loss in choice.losses.items():
            value = dict(tuning).get(key)
            at: float | str = value if numbers and isinstance(value, int | float) else str(value)
            best[at] = min(loss, best.get(at, math.inf))
        losses = [_finite(best.get(place, math.inf)) for place in places]
        marks.append(line(name, places, losses, findings.evidence.slot(name), dots=True))
        rows.append([name, *losses])
    table = Table(
        [Column("variant"), *(Column(str(place), 4) for place in places)],
        rows,
        "validation loss; — diverged, failed or not run",
    )
    wide = numbers and min(values) > 0 and max(values) > 5 * min(values)
    x = Axis(key, log=wide) if numbers else Axis(key, categories=[str(place) for place in places])
    return Figure(_title(findings, key), marks, x, Axis("validation loss (nats per token)"), table)


def _title(findings: Findings, key: str) -> str:
    best: dict[str, list[str]] = {}
    for name, choice in findings.evidence.choices.items():
        best.setdefault(str(choice.best.get(key)), []).append(name)
    if len(best) == 1:
        return f"All variants do best with {key} = {next(iter(best))}"
    return f"The best {key} is " + ", ".join(f"{value} for {listed(names, 3)}" for value, names in best.items())
