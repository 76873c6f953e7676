"""Runs that are not done, and runs that are but do not count."""

from zoo.number import counted
from zoo.page import Block, Cell, Column, Section, Table
from zoo.study.report.findings import Findings

TITLE = "Failures, and runs left out"


def section(findings: Findings) -> Section:
    """Every job that has no score, with its last word; then those refused."""
    evidence = findings.evidence
    runs = [run for run in evidence.runs if not run.done]
    refused, unread = evidence.refused, evidence.unread
    if not runs and not refused and not unread:
        return Section("failures", TITLE, missing="None: every job is done, and every run was compared.")
    blocks: list[Block] = []
    head = [Column("job"), Column("variant"), Column("seed")]
    if runs or unread:
        rows: list[list[Cell]] = [
            [run.job, run.variant, run.seed, _tuning(run.tuning), run.state, run.message, _name(run.folder)]
            for run in runs
        ]
        rows += [[None, None, None, None, one.state, one.message, _name(one.folder)] for one in unread]
        columns = [*head, *(Column(name) for name in ("tuning", "state", "what it said", "folder"))]
        whole = counted(len(evidence.runs) + len(unread), "job")
        blocks.append(Table(columns, rows, f"No score: {len(rows)} of {whole}"))
    if refused:
        cells: list[list[Cell]] = [
            [run.job, run.variant, run.seed, reason, _name(run.folder)] for run, reason in refused
        ]
        columns = [*head, Column("why it is not compared"), Column("folder")]
        blocks.append(Table(columns, cells, f"Not compared with the others: {counted(len(refused), 'run')}"))
    return Section("failures", TITLE, blocks)


def _tuning(tuning: object) -> str:
    return " ".join(f"{key}={value}" for key, value in tuning.items()) if isinstance(tuning, dict) else ""


def _name(folder: object) -> str | None:
    return None if folder is None else str(getattr(folder, "name", folder))
