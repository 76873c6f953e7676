"""A page as one HTML file. Scripts and styles stand inside it, and its policy forbids every request."""

import json
from pathlib import Path
from typing import Any

from zoo.page.content import Axis, Code, Figure, Grid, Page, Table, Word
from zoo.page.text import pieces, shown, sort_value, wrapped

HERE = Path(__file__).parent

SCRIPTS = ("scale.js", "marks.js", "chart.js", "page.js")
"""In the order in which they need each other."""


def html(page: Page) -> str:
    """The whole file, in which the script that draws stands once."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["pieces"] = pieces
    environment.tests |= {
        "table": _is(Table),
        "figure": _is(Figure),
        "code": _is(Code),
        "grid": _is(Grid),
        "toned": _is(Word),
    }
    environment.globals |= {"shown": shown, "sort_value": sort_value, "numeric": numeric, "spec": spec}
    return environment.get_template("page.html.j2").render(
        page=page,
        css=(HERE / "page.css").read_text(encoding="utf-8"),
        script="\n".join((HERE / name).read_text(encoding="utf-8") for name in SCRIPTS),
    )


def spec(figure: Figure) -> str:
    """What the script draws, as JSON that may stand inside a script element."""
    axes = {"x": _axis(figure.x, zero=figure.zero == "x"), "y": _axis(figure.y, zero=figure.zero == "y")}
    found = {"height": figure.height, **axes, "marks": list(figure.marks)}
    text = json.dumps(found, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _axis(axis: Axis, zero: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"title": axis.title, "log": axis.log, "zero": zero}
    if axis.categories:
        found |= {"categories": list(axis.categories), "labels": [wrapped(one) for one in axis.categories]}
    return found


def numeric(table: Table, place: int) -> bool:
    """Whether a column holds numbers."""
    cells = [row[place] for row in table.rows if row[place] is not None]
    return bool(cells) and all(isinstance(cell, int | float) for cell in cells)


def _is(kind: type) -> Any:
    return lambda one: isinstance(one, kind)
