"""Runs that are not done, and runs that are but do not count."""

from zoo.number import counted
from zoo.page import Block, Cell, Column, Section, Table
from zoo.study.report.findings import Findings

TITLE = "Failures, and runs left out"


def section(findings: Findings) -> Section:
    """Every job that has no score, with its last word; then those refused."""
    runs = [run for run in findings.evidence.runs if not run.done]
    refused = findings.evidence.refused
    if not runs and not refused:
        return Section("failures", TITLE, missing="None: every job is done, and every run was compared.")
    blocks: list[Block] = []
    head = [Column("job"), Column("variant"), Column("seed")]
    if runs:
        rows: list[list[Cell]] = [
            [run.job, run.variant, run.seed, _tuning(run.tuning), run.state, run.message, _name(run.folder)]
            for run in runs
        ]
        columns = [*head, *(Column(name) for name in ("tuning", "state", "what it said", "folder"))]
        blocks.append(Table(columns, rows, f"No score: {len(runs)} of {counted(len(findings.evidence.runs), 'job')}"))
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
