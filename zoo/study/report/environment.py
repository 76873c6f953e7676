"""Where and with what the runs were computed."""

from collections import Counter
from typing import Any

from zoo.number import counted
from zoo.page import Block, Cell, Column, Section, Table
from zoo.study.report.findings import Findings
from zoo.study.report.numbers import flat

TITLE = "Environment"
KEYS = ("commit", "dirty", "python", "packages", "machine", "machinery")


def section(findings: Findings) -> Section:
    """Every value that was recorded, with how many runs had it."""
    found: dict[str, Counter[str]] = {}
    runs = [run for run in findings.evidence.runs if run.record]
    for run in runs:
        for key, value in flat({key: run.record[key] for key in KEYS if key in run.record}).items():
            found.setdefault(key, Counter())[_text(value)] += 1
    if not found:
        return Section("environment", TITLE, missing="No run has recorded its machine and versions.")
    rows: list[list[Cell]] = [
        [key, value, count] for key, values in found.items() for value, count in values.most_common()
    ]
    mixed = sorted(key for key, values in found.items() if len(values) > 1)
    blocks: list[Block] = []
    if mixed:
        blocks.append(f"The runs do not agree in {', '.join(mixed)}.")
    if found.get("dirty", Counter())["True"]:
        blocks.append("Some runs were made with files that differ from the commit.")
    shared = findings.evidence.basis
    if shared:
        agreed: list[list[Cell]] = [[key, _text(value)] for key, value in shared.items()]
        blocks.append(Table([Column("key"), Column("value")], agreed, "What all compared runs share"))
    table = Table([Column("recorded"), Column("value"), Column("runs")], rows, f"Of {counted(len(runs), 'run')}")
    return Section("environment", TITLE, [*blocks, table])


def _text(value: Any) -> str:
    return "unknown" if value is None else str(value)
