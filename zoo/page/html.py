"""A page as one HTML file. Scripts and styles stand inside it, and its policy forbids every request."""

import json
from pathlib import Path
from typing import Any

from zoo.page.content import Axis, Code, Figure, Grid, Page, Section, Table, Word
from zoo.page.text import pieces, shown, sort_value, wrapped

HERE = Path(__file__).parent


def html(page: Page) -> str:
    """The whole file. The library that draws (plotly.js, 4.8 MB) is in it once, and only when there is a figure."""
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
        script=(HERE / "page.js").read_text(encoding="utf-8"),
        plotly=_plotly() if any(_has_figure(section) for section in page.sections) else "",
    )


def spec(figure: Figure) -> str:
    """What plotly draws, as JSON that may stand inside a script element."""
    layout: dict[str, Any] = {
        "height": figure.height,
        "xaxis": _axis(figure.x, zero=figure.zero == "x"),
        "yaxis": _axis(figure.y, zero=figure.zero == "y"),
        "showlegend": sum(bool(mark["showlegend"]) for mark in figure.marks) > 1,
    }
    text = json.dumps({"data": list(figure.marks), "layout": layout}, allow_nan=False, ensure_ascii=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _axis(axis: Axis, zero: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"title": {"text": axis.title}, "zeroline": zero, "automargin": True}
    if axis.log:
        found |= {"type": "log", "dtick": "D2", "minorloglabels": "complete", "exponentformat": "SI"}
    if axis.categories:
        labels = [wrapped(one) for one in axis.categories]
        found |= {"type": "category", "categoryorder": "array", "categoryarray": list(axis.categories)}
        found |= {"tickmode": "array", "tickvals": list(axis.categories), "ticktext": labels}
    return found


def numeric(table: Table, place: int) -> bool:
    """Whether a column holds numbers."""
    cells = [row[place] for row in table.rows if row[place] is not None]
    return bool(cells) and all(isinstance(cell, int | float) for cell in cells)


def _has_figure(section: Section) -> bool:
    return any(isinstance(block, Figure | Grid) for block in section.blocks)


def _is(kind: type) -> Any:
    return lambda one: isinstance(one, kind)


def _plotly() -> str:
    from plotly.offline import get_plotlyjs

    return str(get_plotlyjs())
