"""What each variant changed: the difference of its resolved config to that of the variant it is compared with."""

from typing import Any

from zoo.page import Cell, Column, Section, Table
from zoo.study.report.findings import Findings
from zoo.study.report.numbers import flat
from zoo.study.run import Run

TITLE = "What each variant changed"
SILENT = ("seed", "data")


def section(findings: Findings) -> Section:
    """One row for each value that differs."""
    runs = {name: _any(findings, name) for name in findings.question.names}
    if all(run is None for run in runs.values()):
        return Section("changes", TITLE, missing="No run has written its record yet.")
    says = {one.name: one.says or " ".join(one.overrides) for one in findings.question.variants}
    rows: list[list[Cell]] = []
    for name in findings.question.names:
        against = findings.question.before(name)
        own, other = runs[name], runs.get(against or "")
        if against is None:
            continue
        if own is None or other is None:
            rows.append([name, says[name], against, "not known yet", None, None])
            continue
        changes = differences(other.science, own.science)
        rows += [[name, says[name], against, key, was, now] for key, was, now in changes]
        if not changes:
            rows.append([name, says[name], against, "nothing but its name", None, None])
    if not rows:
        return Section("changes", TITLE, missing="There is one variant.")
    columns = [Column(one) for one in ("variant", "in words", "compared with", "key", "there", "here")]
    return Section(
        "changes", TITLE, [Table(columns, rows, "Typed values that differ, defaults included; not the seed")]
    )


def differences(was: Any, now: Any) -> list[tuple[str, str, str]]:
    """Keys whose values differ, with both values."""
    old, new = flat(was), flat(now)
    keys = [key for key in {**old, **new} if key not in SILENT and old.get(key) != new.get(key)]
    return [(key, _text(old, key), _text(new, key)) for key in keys]


def _text(values: dict[str, Any], key: str) -> str:
    return str(values[key]) if key in values else "(not there)"


def _any(findings: Findings, name: str) -> Run | None:
    """A run of the variant that has a record, an accepted one if there is one."""
    accepted = list(findings.evidence.accepted.get(name, {}).values())
    others = [run for run in findings.evidence.runs if run.variant == name and run.record]
    return next(iter([*accepted, *others]), None)
