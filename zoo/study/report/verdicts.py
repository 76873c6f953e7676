"""The verdict table: the first thing that is read."""

from zoo.number import counted
from zoo.page import Block, Cell, Column, Section, Table, trimmed
from zoo.study.report.findings import Findings, word
from zoo.study.report.numbers import between
from zoo.study.statistics import pairs_needed
from zoo.study.verdict import LEAST, Row

NARROW = "\u00a0"


def section(findings: Findings) -> Section:
    """The table of verdicts; in a chain a second one, against the reference."""
    question = findings.question
    if not findings.rows:
        return Section("verdicts", "Verdicts", missing="A verdict needs two variants.")
    others = {row.against for row in findings.rows}
    chained = f" to `{others.pop()}`" if len(others) == 1 else " to the one that it is compared with"
    blocks: list[Block] = [_table(findings, findings.rows, f"Change of {question.metric}{chained}, paired by seed")]
    if findings.from_reference:
        caption = f"Change of {question.metric} to `{question.reference}`, paired by seed"
        blocks.append(_table(findings, findings.from_reference, caption))
    blocks.append(_how(findings))
    return Section("verdicts", "Verdicts", blocks)


def _how(findings: Findings) -> str:
    needed = pairs_needed(len(findings.rows), LEAST)
    return (
        f"Better or worse: at least {needed} pairs, a 95 % t interval that leaves out nought, and a sign-flip test with"
        f" p ≤ 0.05 after Holm's correction for the {counted(len(findings.rows), 'row')} of a table. Detectable is the"
        " true difference that is found with 80 % power at the spread seen, with as many pairs as a claim needs. A"
        " diverged run loses its pair; the sign test then stands in for the sign-flip test."
    )


def _table(findings: Findings, rows: tuple[Row, ...], caption: str) -> Table:
    chain = len({row.against for row in rows}) > 1
    unit = findings.unit
    columns = [
        Column("variant"),
        Column("verdict"),
        Column(f"difference ({unit})", 4, sign=True),
        Column("95 % interval"),
        Column("pairs"),
        Column("p, corrected", 4),
        Column("p, not corrected", 4),
        Column(f"mean ({unit})", 4),
        *([Column("against")] if chain else []),
        Column("runs"),
        Column("detectable (80 %)", 4),
        Column("remark"),
    ]
    if any(row.verdict == "not enough seeds" for row in rows):
        caption += f"; a claim needs {rows[0].needed} pairs in a table of {counted(len(rows), 'row')}"
    return trimmed(Table(columns, [_row(findings, row, chain) for row in rows], caption))


def _row(findings: Findings, row: Row, chain: bool) -> list[Cell]:
    found = row.difference
    return [
        row.variant,
        word(row),
        None if found is None else found.mean,
        interval(row),
        row.n,
        row.corrected,
        row.p,
        row.mean,
        *([row.against] if chain else []),
        _runs(findings, row.variant),
        row.detectable,
        _remark(findings, row),
    ]


def interval(row: Row) -> str | None:
    """The interval of a row; why there is none where there is one difference."""
    found = row.difference
    if found is None:
        return None
    if found.low is None or found.high is None:
        return "n = 1, no spread"
    return between(found.low, found.high)


def _runs(findings: Findings, variant: str) -> str:
    """How its runs stand, of all tunings."""
    states = findings.evidence.states(variant)
    order = ["done", *sorted(states.keys() - {"done"})]
    return ", ".join(f"{states[state]}{NARROW}{state}" for state in order if states[state]) or "none"


def _remark(findings: Findings, row: Row) -> str | None:
    parts = [] if row.verdict == "not enough seeds" else [row.why]  # which stands in its cell and above the table
    refused = sum(run.variant == row.variant for run, _ in findings.evidence.refused)
    if refused and row.n:
        parts.append(f"{counted(refused, 'run')} {'is' if refused == 1 else 'are'} not comparable")
    if row.losses:
        parts.append(f"diverged on {row.losses} of {counted(row.n, 'seed')}")
    if row.wins:
        parts.append(f"`{row.against}` diverged on {row.wins} of {counted(row.n, 'seed')}")
    if row.test == "sign":
        parts.append("sign test")
    return "; ".join(part for part in parts if part) or None
