"""How to make each row again, and which runs it was made of."""

import shlex

from zoo.page import Block, Cell, Code, Column, Section, Table
from zoo.study.report.findings import Findings

TITLE = "How to reproduce each row"


def section(findings: Findings) -> Section:
    """The command of the study, then the commands and run folders of each variant."""
    question, evidence = findings.question, findings.evidence
    blocks: list[Block] = []
    if question.command:
        blocks += [
            "The whole study, which finds the runs that there are and makes what is missing:",
            Code(question.command),
        ]
    searched = [word for word in shlex.split(question.command) if word.startswith("hydra.searchpath=")]
    rows: list[list[Cell]] = []
    for name in question.names:
        runs = [run for _, run in sorted(evidence.accepted.get(name, {}).items())]
        runs = runs or [run for run in evidence.runs if run.variant == name][:1]
        if not runs:
            continue
        words = [*searched, *(word for word in runs[0].overrides if not word.startswith("seed="))]
        seeds = ",".join(str(run.seed) for run in runs)
        several = " -m" if len(runs) > 1 else ""
        command = shlex.join(["python", "train.py"]) + several + "".join(f" {shlex.quote(word)}" for word in words)
        folders = ", ".join(run.folder.name for run in runs if run.folder is not None)
        rows.append([name, f"`{command} seed={seeds}`", len(runs), folders])
    if not rows:
        return Section("reproduce", TITLE, missing="No run is known.")
    columns = [
        Column("variant"),
        Column("command"),
        Column("runs"),
        Column("folders of the runs that its numbers are from"),
    ]
    return Section("reproduce", TITLE, [*blocks, Table(columns, rows)])
