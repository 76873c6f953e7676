"""Pages to read: one HTML file that works offline, and the same in Markdown. Knows nothing of what it shows.

    page = Page(title="Which norm?", answer="None is better.", sections=[Section("curves", "Loss", [figure, table])])
    write_whole(path, html(page).encode());  write_whole(other, markdown(page).encode())

A figure is made of `line`, `band`, `dots`, `intervals` and `heat` (zoo/page/marks.py), named by a slot of the palette
and never by a colour: the page paints them for a light or a dark screen, or for paper. Imports neither torch nor numpy.
"""

from zoo.page.content import (
    Axis,
    Block,
    Cell,
    Code,
    Column,
    Figure,
    Grid,
    Page,
    Section,
    Table,
    Word,
    height_of,
    trimmed,
)
from zoo.page.html import html
from zoo.page.markdown import markdown
from zoo.page.marks import band, dots, heat, intervals, line
from zoo.page.text import quoted

__all__ = [
    "Axis",
    "Block",
    "Cell",
    "Code",
    "Column",
    "Figure",
    "Grid",
    "Page",
    "Section",
    "Table",
    "Word",
    "band",
    "dots",
    "heat",
    "height_of",
    "html",
    "intervals",
    "line",
    "markdown",
    "quoted",
    "trimmed",
]
