"""How far back a model can reach: loss above the floor by distance, recall first."""

from collections.abc import Callable

from zoo.page import Axis, Block, Cell, Column, Figure, Section, Table, line
from zoo.study.report.chance import chance
from zoo.study.report.enough import TOO_FEW, with_enough
from zoo.study.report.findings import Findings
from zoo.study.report.lead import lead, numbers
from zoo.study.report.numbers import mean
from zoo.study.run import Run

TITLE = "Recall by distance"
FIGURES = 3
FIRST = ("recall", "copying")
WORDS, DETERMINED = "words_by_distance", "determined_words_by_distance"
TOKENS = "tokens_by_distance"
"""All that older runs say of how many there are."""


def section(findings: Findings) -> Section:
    """A figure for each of the first skills that have two distances or more."""
    evidence = findings.evidence
    found = {name: _by_distance(evidence.done(name)) for name in evidence.shown}
    sizes: dict[str, int] = {}
    for one in found.values():
        for skill, distances in one.items():
            sizes[skill] = max(sizes.get(skill, 0), len(distances))
    skills = sorted((s for s, size in sizes.items() if size > 1), key=lambda s: (_rank(s), -sizes[s], s))[:FIGURES]
    if not skills:
        why = "No run has scores by distance: a corpus that says on what a word depends (`data=toy`), read in order."
        return Section("distances", TITLE, missing=why)
    blocks: list[Block] = [
        _figure(findings, skill, {name: one.get(skill, {}) for name, one in found.items()}) for skill in skills
    ]
    right = {name: _by_distance(evidence.done(name), "determined_by_distance") for name in evidence.shown}
    blocks += [
        _right(findings, skill, {name: one.get(skill, {}) for name, one in right.items()})
        for skill in skills
        if any(len(one.get(skill, {})) > 1 for one in right.values())
    ][:1]
    return Section("distances", TITLE, blocks)


def _rank(skill: str) -> int:
    return FIRST.index(skill) if skill in FIRST else len(FIRST)


def _by_distance(runs: list[Run], key: str = "by_distance") -> dict[str, dict[str, list[float]]]:
    found: dict[str, dict[str, list[float]]] = {}
    for run in runs:
        for skill, one in run.scores.get("test", {}).get("skills", {}).items():
            for distance, above in (one.get(key) or {}).items():
                if distance != "none" and isinstance(above, int | float):
                    found.setdefault(skill, {}).setdefault(distance, []).append(float(above))
    return found


def _figure(findings: Findings, skill: str, found: dict[str, dict[str, list[float]]]) -> Figure:
    found = {name: one for name, one in found.items() if one}
    distances = sorted({d for one in found.values() for d in one}, key=_start)
    marks = [
        line(name, distances, [mean(one.get(d, [])) for d in distances], findings.evidence.slot(name), dots=True)
        for name, one in found.items()
    ]
    rows = [[name, *(mean(one.get(d, [])) for d in distances)] for name, one in found.items()]
    table = Table([Column("variant"), *(Column(d, 3) for d in distances)], rows, "nats above the floor, by words back")
    y = Axis("loss above the floor (nats per target)")
    return Figure(_nearest(findings, skill, distances), marks, Axis("words back", categories=distances), y, table)


def _nearest(findings: Findings, skill: str, distances: list[str]) -> str:
    far = _farthest(findings, skill, distances, WORDS)
    if far is None:
        return f"{skill.capitalize()}, by words back: each distance {TOO_FEW}"
    first = lead(numbers(findings.evidence, _at(skill, far, "by_distance")))
    said = f"{skill.capitalize()}, {far} words back: nearest to the floor is `{first.best}`"
    return f"{said}, {first.value:.3f} nats above it{first.noise}"


def _right(findings: Findings, skill: str, found: dict[str, dict[str, list[float]]]) -> Figure:
    """How often what is determined is predicted right, with the line of chance."""
    found = {name: one for name, one in found.items() if one}
    distances = sorted({d for one in found.values() for d in one}, key=_start)
    marks = [
        line(name, distances, [mean(one.get(d, [])) for d in distances], findings.evidence.slot(name), dots=True)
        for name, one in found.items()
    ]
    rows: list[list[Cell]] = [[name, *(mean(one.get(d, [])) for d in distances)] for name, one in found.items()]
    evidence = findings.evidence
    guessed = chance((run for name in evidence.shown for run in evidence.done(name)), skill)
    if guessed is not None:
        marks.append(line("chance", distances, [guessed] * len(distances), len(findings.question.names)))
        rows.append(["chance", *[guessed] * len(distances)])
    table = Table([Column("variant"), *(Column(d, 3) for d in distances)], rows, "share right, by words back")
    title = _most_right(findings, skill, distances, guessed)
    return Figure(title, marks, Axis("words back", categories=distances), Axis("share right"), table)


def _most_right(findings: Findings, skill: str, distances: list[str], guessed: float | None) -> str:
    far = _farthest(findings, skill, distances, DETERMINED)
    if far is None:
        return f"{skill.capitalize()}, by words back: each distance {TOO_FEW}"
    first = lead(numbers(findings.evidence, _at(skill, far, "determined_by_distance")), highest=True)
    than = "" if guessed is None else f", where chance gives {guessed:.1%}"
    said = f"{skill.capitalize()}, {far} words back: `{first.best}` is right most often"
    return f"{said}, in {first.value:.1%}{first.noise}{than}"


def _at(skill: str, distance: str, key: str) -> Callable[[Run], float | None]:
    """What a run has at that distance."""
    return lambda run: mean(_by_distance([run], key).get(skill, {}).get(distance, []))


def _farthest(findings: Findings, skill: str, distances: list[str], counted: str) -> str | None:
    """The last distance at which a run has enough words; None where none has."""
    runs = [run for name in findings.evidence.shown for run in findings.evidence.done(name)]
    known = _by_distance(runs, counted).get(skill) or _by_distance(runs, TOKENS).get(skill, {})
    return next(reversed(with_enough(distances, known)), None)


def _start(distance: str) -> float:
    digits = "".join(c if c.isdigit() else " " for c in distance).split()
    return float(digits[0]) if digits else float("inf")
