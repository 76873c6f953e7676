"""Loss above the floor, in total and by skill, on corpora whose source is known."""

from zoo.page import Axis, Cell, Column, Figure, Section, Table, line
from zoo.study.report.chance import chance
from zoo.study.report.enough import TOO_FEW, with_enough
from zoo.study.report.findings import Findings
from zoo.study.report.lead import lead, numbers
from zoo.study.report.numbers import mean, spread
from zoo.study.run import Run

TITLE = "Loss above the floor, by skill"


def section(findings: Findings) -> Section:
    """One line a variant over the skills."""
    evidence = findings.evidence
    above = {name: _by_skill(evidence.done(name)) for name in evidence.shown}
    above = {name: one for name, one in above.items() if one}
    skills = list(dict.fromkeys(skill for one in above.values() for skill in one))
    if not skills:
        why = (
            "No run has scores by skill: they need a corpus whose floor is known (`data=toy`), read from left to right."
        )
        return Section("skills", TITLE, missing=why)
    marks = [
        line(name, skills, [mean(one.get(skill, [])) for skill in skills], evidence.slot(name), dots=True)
        for name, one in above.items()
    ]
    table = Table(
        [
            *(Column("skill"), Column("variant"), Column("words"), Column("above the floor (nats per target)", 3)),
            *(Column("least … greatest seed"), Column("right, of what is determined", 3)),
            *(Column("chance", 3), Column("seeds")),
        ],
        _rows(findings, above, skills),
    )
    y = Axis("loss above the floor (nats per target)")
    return Section(
        "skills", TITLE, [Figure(_title(findings, above, skills), marks, Axis("skill", categories=skills), y, table)]
    )


def _rows(findings: Findings, above: dict[str, dict[str, list[float]]], skills: list[str]) -> list[list[Cell]]:
    """In total, then skill by skill, each variant below the other."""
    runs = {name: findings.evidence.done(name) for name in above}
    total = {name: _total(done) for name, done in runs.items()}
    rows: list[list[Cell]] = [
        ["in total", name, None, mean(one), spread(one), None, None, len(one)] for name, one in total.items() if one
    ]
    right = {name: _values(done, "determined_accuracy") for name, done in runs.items()}
    words = {name: _values(done, "words") for name, done in runs.items()}
    for skill in skills:
        for name, one in above.items():
            if values := one.get(skill):
                known = (mean(right[name].get(skill, [])), chance(runs[name], skill))
                least = min(words[name].get(skill, []), default=None)
                rows.append([skill, name, least, mean(values), spread(values), *known, len(values)])
    return rows


def _total(runs: list[Run]) -> list[float]:
    tests = [run.scores.get("test", {}) for run in runs]
    both = [(one.get("loss"), one.get("floor")) for one in tests]
    return [a - b for a, b in both if isinstance(a, int | float) and isinstance(b, int | float)]


def _by_skill(runs: list[Run]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for run in runs:
        for skill, one in run.scores.get("test", {}).get("skills", {}).items():
            if isinstance(one.get("loss"), int | float) and isinstance(one.get("floor"), int | float):
                found.setdefault(skill, []).append(one["loss"] - one["floor"])
    return found


def _values(runs: list[Run], key: str) -> dict[str, list[int | float]]:
    """What each run has at that key, by skill."""
    found: dict[str, list[int | float]] = {}
    for run in runs:
        for skill, one in run.scores.get("test", {}).get("skills", {}).items():
            if isinstance(one.get(key), int | float):
                found.setdefault(skill, []).append(one[key])
    return found


def _title(findings: Findings, above: dict[str, dict[str, list[float]]], skills: list[str]) -> str:
    """The skill in which the variants differ most, of those with enough words. Older runs only say how many tokens."""
    runs = [run for name in above for run in findings.evidence.done(name)]
    skills = with_enough(skills, _values(runs, "words") or _values(runs, "tokens"))
    if not skills:
        return f"Loss above the floor: each skill {TOO_FEW}"
    means = {skill: {name: mean(one[skill]) or 0.0 for name, one in above.items() if skill in one} for skill in skills}
    apart = {skill: max(one.values()) - min(one.values()) for skill, one in means.items()}
    widest = max(apart, key=lambda skill: apart[skill])
    if len(above) < 2:
        hardest = max(means, key=lambda skill: max(means[skill].values()))
        return f"Furthest from perfect is {hardest}, {max(means[hardest].values()):.3f} nats above the floor"
    first = lead(numbers(findings.evidence, lambda run: mean(_by_skill([run]).get(widest, []))))
    said = f"The variants differ most in {widest}: {apart[widest]:.3f} nats"
    return f"{said}, and `{first.best}` is nearest to the floor{first.noise}"
