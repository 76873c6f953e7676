"""The table of all options."""

from collections.abc import Sequence
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from zoo.command.groups import option_meant
from zoo.command.words import split_words
from zoo.errors import UserError
from zoo.families import FAMILY_PACKAGES
from zoo.overview.catalogue import Entry, catalogue
from zoo.registry import did_you_mean
from zoo.terminal import NARROW, on_terminal, show, show_json

COLUMNS = {"family": "family", "option": "option", "summary": "what it is", "file": "file", "paper": "paper"}
"""What is said of an option, and how the table calls it."""

NAMES = ("family", "option", "file")
"""What a program may read from a pipe: it stands whole on one line there."""

WORDS = 40
"""Characters beside the names that a line has at least, where a plugin's file lies deep: a page is too narrow then."""


def print_list(words: Sequence[str], as_json: bool = False) -> None:
    """Print every option of the families named in `words`, or of all, as a table or as JSON; `plugins=` and
    `hydra.searchpath=` may be among the words. Raises UserError for a family that does not exist."""
    plugins, searchpath, families = split_words(words)
    for family in families:
        if family not in FAMILY_PACKAGES:
            hint = did_you_mean(family, FAMILY_PACKAGES) or option_meant(family, "train")
            raise UserError(f"no family '{family}'{hint}; choose from {', '.join(FAMILY_PACKAGES)}")
    entries = catalogue(plugins, [Path(path) for path in searchpath])
    rows = [_row(entry) for entry in entries if not families or entry.family in families]
    if as_json:
        show_json(rows)
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    for key, column in COLUMNS.items():
        table.add_column(column, overflow="fold", no_wrap=key in NAMES and not on_terminal())
    for row in rows:
        table.add_row(*(escape(row[key]) for key in COLUMNS))
    names = sum(max((len(row[key]) for row in rows), default=0) for key in NAMES)
    show(table, width=max(NARROW, names + WORDS))


def _row(entry: Entry) -> dict[str, str]:
    file = entry.config if entry.part is None else entry.part.file
    line = "" if entry.part is None else f":{entry.part.line}"
    about = {"family": entry.family, "option": entry.option, "summary": entry.summary}
    return {**about, "file": _relative(file) + line, "paper": entry.paper}


def _relative(path: Path) -> str:
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)
