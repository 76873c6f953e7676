"""The table of all options."""

from collections.abc import Sequence
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from zoo.catalogue import catalogue
from zoo.errors import UserError
from zoo.families import FAMILY_PACKAGES
from zoo.registry import did_you_mean
from zoo.terminal import show
from zoo.words import split_words


def print_list(words: Sequence[str]) -> None:
    """Print every option of the families named in `words`, or of all; `plugins=` and `hydra.searchpath=` may be among
    the words. Raises UserError for a family that does not exist."""
    plugins, searchpath, families = split_words(words)
    for family in families:
        if family not in FAMILY_PACKAGES:
            hint = did_you_mean(family, FAMILY_PACKAGES)
            raise UserError(f"no family '{family}'{hint}; choose from {', '.join(FAMILY_PACKAGES)}")
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("family", "option", "what it is", "file", "paper"):
        table.add_column(column, overflow="fold")
    for entry in catalogue(plugins, [Path(path) for path in searchpath]):
        if not families or entry.family in families:
            file = entry.config if entry.part is None else entry.part.file
            line = "" if entry.part is None else f":{entry.part.line}"
            paper = "" if entry.part is None else entry.part.paper
            table.add_row(*map(escape, (entry.family, entry.option, entry.summary, _relative(file) + line, paper)))
    show(table)


def _relative(path: Path) -> str:
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)
