"""How far back a model can reach: loss above the floor by distance, recall first."""

from zoo.page import Axis, Block, Column, Figure, Section, Table, line
from zoo.study.report.findings import Findings
from zoo.study.report.numbers import mean
from zoo.study.run import Run

TITLE = "Recall by distance"
FIGURES = 3
FIRST = ("recall", "copying")


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
        why = "No run has scores by distance: its corpus does not say on what a word depends (`data=toy` does)."
        return Section("distances", TITLE, missing=why)
    blocks: list[Block] = [
        _figure(findings, skill, {name: one.get(skill, {}) for name, one in found.items()}) for skill in skills
    ]
    return Section("distances", TITLE, blocks)


def _rank(skill: str) -> int:
    return FIRST.index(skill) if skill in FIRST else len(FIRST)


def _by_distance(runs: list[Run]) -> dict[str, dict[str, list[float]]]:
    found: dict[str, dict[str, list[float]]] = {}
    for run in runs:
        for skill, one in run.scores.get("test", {}).get("skills", {}).items():
            for distance, above in one.get("by_distance", {}).items():
                if distance != "none" and isinstance(above, int | float):
                    found.setdefault(skill, {}).setdefault(distance, []).append(above)
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
    far = distances[-1]
    best = min(found, key=lambda name: mean(found[name].get(far, [])) or 0.0)
    value = mean(found[best].get(far, [])) or 0.0
    title = f"{skill.capitalize()}, {far} words back: nearest to the floor is `{best}`, {value:.3f} nats above it"
    return Figure(
        title, marks, Axis("words back", categories=distances), Axis("loss above the floor (nats per target)"), table
    )


def _start(distance: str) -> float:
    digits = "".join(c if c.isdigit() else " " for c in distance).split()
    return float(digits[0]) if digits else float("inf")
