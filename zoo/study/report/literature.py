"""Against the literature: each published order of two variants, and what this study says of it."""

from collections import Counter

from zoo.page import Cell, Column, Section, Table, Word
from zoo.study.report.findings import Findings
from zoo.study.report.verdicts import interval
from zoo.study.verdict import Row, judge

TITLE = "Against the literature"


def section(findings: Findings) -> Section:
    """One row a pair; corrected among themselves."""
    pairs = findings.question.published
    if not pairs:
        return Section("literature", TITLE, missing="The study names no published order.")
    rows = judge(findings.evidence, [(pair.better, pair.worse) for pair in pairs])
    grades = [grade(row, _in_noise(findings, row)) for row in rows]
    counts = Counter(one.text for one in grades)
    said = ", ".join(
        f"{count} {text.replace('agrees', 'agree') if count > 1 else text}" for text, count in sorted(counts.items())
    )
    cells: list[list[Cell]] = [
        [
            f"`{pair.better}` better than `{pair.worse}`",
            mark,
            None if row.difference is None else row.difference.mean,
            interval(row),
            row.n,
            row.corrected,
            row.detectable,
            pair.source,
            _inversion(pair.inversion, mark),
        ]
        for pair, row, mark in zip(pairs, rows, grades, strict=True)
    ]
    columns = [
        Column("published order"),
        Column("here"),
        Column(f"difference ({findings.unit})", 4, sign=True),
        Column("95 % interval"),
        Column("pairs"),
        Column("p, corrected", 4),
        Column("detectable (80 %)", 4),
        Column("source"),
        Column("known inversion"),
    ]
    what = "Only the order is compared, never the values: those do not carry over to this size."
    return Section("literature", TITLE, [f"Of {len(pairs)} published orders: {said}. {what}", Table(columns, cells)])


def grade(row: Row, in_noise: bool = False) -> Word:
    """A row in which the variant is the one that is published as better; `in_noise` when the table of verdicts, which
    has more rows to correct for, makes no claim of it."""
    match "within noise" if in_noise else row.verdict:
        case "better":
            return Word("agrees", "good")
        case "worse":
            return Word("disagrees", "bad")
        case "within noise":
            return Word("undecided at this power", "flat")
        case _:
            return Word(f"undecided ({row.verdict})", "open")


def _in_noise(findings: Findings, row: Row) -> bool:
    pair = {row.variant, row.against}
    return any({one.variant, one.against} == pair and one.verdict == "within noise" for one in findings.rows)


def _inversion(known: str | None, mark: Word) -> str | None:
    if known is None:
        return None
    return f"known at small scale: {known}" if mark.text == "disagrees" else known
