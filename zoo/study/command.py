"""The command `python evaluate.py study=<folder>`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from zoo.errors import UserError
from zoo.schema import convert
from zoo.study.report.page import built
from zoo.terminal import show


def report_study(study: Any, overrides: Sequence[str]) -> None:
    """Build the report of a study folder, print its verdicts and say where it lies. Raises UserError for a folder that
    is no study, and for overrides that a report does not read."""
    for override in overrides:
        key = override.lstrip("+~").partition("=")[0]
        if key != "study":
            raise UserError(f"study= builds a report, which does not read {key}; leave it out")
    name = convert(study, str, "study")
    report = built(Path(name))
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("variant", "against", "difference", "verdict"):
        table.add_column(column, overflow="fold", justify="right" if column == "difference" else "left")
    for row in report.findings.rows:
        difference = "—" if row.difference is None else f"{row.difference.mean:+.4f}"
        verdict = f"{row.verdict}: {row.why}" if row.why else row.verdict
        table.add_row(*map(escape, (row.variant, row.against, difference, verdict)))
    show(
        report.page.title, report.page.answer.replace("`", ""), table, *(str(file) for file in report.write(Path(name)))
    )
