"""What a page consists of. Text is plain: `word` in backquotes is set as code, nothing else has a meaning."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Word:
    """A cell whose tone is shown, beside saying it."""

    text: str
    tone: Literal["good", "bad", "flat", "open"]


Cell = str | int | float | Word | None


@dataclass(frozen=True)
class Column:
    """The head of a column. Its unit belongs into the name."""

    name: str
    digits: int | None = None
    """Decimals of its numbers; None: whole numbers with thousands, others to four significant digits."""
    sign: bool = False
    """Whether a positive number has its plus."""


@dataclass(frozen=True)
class Table:
    """Rows of cells. None is a cell for which there is nothing to say."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""


def trimmed(table: Table) -> Table:
    """The table without the columns in which no row has anything to say."""
    kept = [place for place in range(len(table.columns)) if any(row[place] is not None for row in table.rows)]
    rows = [[row[place] for place in kept] for row in table.rows]
    return Table([table.columns[place] for place in kept], rows, table.caption)


@dataclass(frozen=True)
class Axis:
    """What an axis shows, with its unit."""

    title: str
    log: bool = False
    categories: Sequence[str] = ()
    """The values in their order, where they are no numbers."""


@dataclass(frozen=True)
class Figure:
    """A chart. Its title states what is to be seen; its table has its numbers."""

    title: str
    marks: Sequence[Mapping[str, Any]]
    """Made by the functions of zoo/page/marks.py."""
    x: Axis
    y: Axis
    table: Table | None = None
    note: str = ""
    height: int = 380
    zero: Literal["x", "y"] | None = None
    """An axis on which a line is drawn at nought."""


def height_of(categories: Sequence[str]) -> int:
    """Pixels that a chart needs for that many categories, one above the other."""
    return 110 + 38 * len(categories)


@dataclass(frozen=True)
class Code:
    """Lines to be typed or read as they are."""

    text: str


@dataclass(frozen=True)
class Grid:
    """Small figures beside each other, as many as fit."""

    figures: Sequence[Figure]


Block = str | Table | Figure | Code | Grid


@dataclass(frozen=True)
class Section:
    """A part of a page. One that has nothing to show says why in `missing`."""

    key: str
    title: str
    blocks: Sequence[Block] = ()
    missing: str = ""


@dataclass(frozen=True)
class Page:
    """A whole page: its first screen is the title, the answer and the first section."""

    title: str
    answer: str
    sections: Sequence[Section]
    facts: Sequence[str] = field(default=())
    """Short lines under the answer."""
    kind: str = "Transformer Zoo"
    """What sort of page it is, above the title."""
