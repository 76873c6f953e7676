"""What a chart is made of: traces of plotly, painted by a slot of the palette.

Slots beyond its colours come round again with another dash and symbol, so that no two of the first 48 look alike,
and neighbours differ also where colours can't be told apart.
"""

from collections.abc import Sequence
from typing import Any

from zoo.page.text import short

COLOURS = 8
"""Slots of the palette: --series-0 … --series-7 of page.css."""
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "triangle-down", "cross", "star")

Number = int | float
Mark = dict[str, Any]


def line(
    name: str,
    x: Sequence[Number | str],
    y: Sequence[Number | None],
    slot: int,
    *,
    dots: bool = False,
    legend: bool = True,
) -> Mark:
    """A line through the points, which may be marked too."""
    stroke = {"width": 2, "dash": DASHES[(slot // COLOURS) % len(DASHES)]}
    mark = _mark(name, x, y, slot, "lines+markers" if dots else "lines", legend)
    return mark | {"line": stroke} | ({"marker": _symbol(slot)} if dots else {})


def band(name: str, x: Sequence[Number], low: Sequence[Number], high: Sequence[Number], slot: int) -> Mark:
    """The area between two lines over the same x; it goes with the line of that name."""
    mark = _mark(name, [*x, *reversed(x)], [*high, *reversed(low)], slot, "lines", legend=False)
    return mark | {"fill": "toself", "hoverinfo": "skip", "meta": {"slot": slot, "role": "band"}}


def dots(
    name: str, x: Sequence[Number | str], y: Sequence[Number | str], slot: int, *, labels: Sequence[str] = ()
) -> Mark:
    """Points, with a label beside each."""
    mark = _mark(name, x, y, slot, "markers+text" if labels else "markers", legend=not labels)
    text = {"text": [_safe(one) for one in labels], "textposition": "top center"} if labels else {}
    return mark | {"marker": _symbol(slot)} | text


def intervals(
    name: str,
    x: Sequence[Number],
    y: Sequence[str],
    low: Sequence[Number],
    high: Sequence[Number],
    slot: int,
    *,
    legend: bool = True,
) -> Mark:
    """Points with an interval along x, a category of y each."""
    up = [top - at for at, top in zip(x, high, strict=True)]
    down = [at - bottom for at, bottom in zip(x, low, strict=True)]
    bars = {"type": "data", "symmetric": False, "array": up, "arrayminus": down, "thickness": 2, "width": 5}
    return _mark(name, x, y, slot, "markers", legend) | {"marker": _symbol(slot), "error_x": bars}


def heat(
    name: str, x: Sequence[str], y: Sequence[str], values: Sequence[Sequence[Number]], slot: int, *, top: Number = 1.0
) -> Mark:
    """A square for each row of `values` (over y) and column (over x): from nothing at 0 to the full colour at `top`."""
    return {
        "type": "heatmap",
        "name": _safe(short(name)),
        "showlegend": False,
        "x": list(x),
        "y": list(y),
        "z": [list(row) for row in values],
        "zmin": 0,
        "zmax": top,
        "showscale": False,
        "hovertemplate": "%{y} → %{x}: %{z:.3f}<extra></extra>",
        "meta": {"slot": slot, "role": "heat"},
    }


def _mark(name: str, x: Sequence[Any], y: Sequence[Any], slot: int, mode: str, legend: bool) -> Mark:
    return {
        "type": "scatter",
        "name": _safe(short(name)),
        "legendgroup": _safe(name),
        "showlegend": legend,
        "x": list(x),
        "y": list(y),
        "mode": mode,
        "meta": {"slot": slot, "role": "line"},
    }


def _symbol(slot: int) -> dict[str, Any]:
    return {"size": 9, "symbol": SYMBOLS[slot % len(SYMBOLS)]}


def _safe(text: str) -> str:
    """Plotly reads a little HTML in names; ours are plain."""
    return text.replace("&", "&amp;").replace("<", "&lt;")
