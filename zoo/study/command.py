"""The command `python evaluate.py study=<folder>`."""

from collections.abc import Sequence
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from zoo.errors import UserError
from zoo.literal import text_of
from zoo.page import quoted
from zoo.study.report.page import built
from zoo.terminal import show


def report_study(words: Sequence[str]) -> None:
    """Build the report of a study folder, print its verdicts and say where it lies. `words` are those of the command
    line. Raises UserError for a folder that is no study, and for words that a report does not read."""
    study = next(word for word in words if word.startswith("study="))
    others = list(words)
    others.remove(study)
    if others:
        raise UserError(f"study= builds the report of one study and reads nothing else; leave out {' '.join(others)}")
    if not text_of(study):
        raise UserError("study= is empty; give the folder of a study, as in study=runs/studies/<study>")
    folder = Path(text_of(study))
    report = built(folder)
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("variant", "against", "difference", "verdict"):
        table.add_column(column, overflow="fold", justify="right" if column == "difference" else "left")
    for row in report.findings.rows:
        difference = "—" if row.difference is None else f"{row.difference.mean:+.4f}"
        why = "" if row.verdict == "not enough seeds" else row.why
        verdict = f"{row.says}: {why}" if why else row.says
        table.add_row(*map(escape, (row.variant, row.against, difference, quoted(verdict))))
    files = [escape(str(file)) for file in report.write(folder)]
    show(escape(report.page.title), escape(quoted(report.page.answer)), table, *files)
