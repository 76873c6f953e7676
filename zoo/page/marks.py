"""What a chart is made of: marks, plain data that zoo/page/marks.js draws, painted by a slot of the palette.

Slots beyond its colours come round again with another dash and symbol, so that no two of the first 48 look alike,
and neighbours differ also where colours can't be told apart.
"""

from collections.abc import Sequence
from typing import Any

from zoo.page.text import short

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
    """A line through the points, which may be marked too; it has a gap where y is None."""
    return _mark("line", name, slot, legend, x=x, y=y) | {"dots": dots}


def band(name: str, x: Sequence[Number], low: Sequence[Number], high: Sequence[Number], slot: int) -> Mark:
    """The area between two lines over the same x; it goes with the line of that name."""
    return _mark("band", name, slot, False, x=x, low=low, high=high)


def dots(name: str, x: Sequence[Number | str], y: Sequence[Number | str], slot: int) -> Mark:
    """Points."""
    return _mark("dots", name, slot, True, x=x, y=y)


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
    return _mark("intervals", name, slot, legend, x=x, y=y, low=low, high=high)


def heat(
    name: str, x: Sequence[str], y: Sequence[str], values: Sequence[Sequence[Number]], slot: int, *, top: Number = 1.0
) -> Mark:
    """A square for each row of `values` (over y) and column (over x): from nothing at 0 to the full colour at `top`."""
    return _mark("heat", name, slot, False, x=x, y=y) | {"z": [_drawn(row) for row in values], "top": top}


def _mark(kind: str, name: str, slot: int, legend: bool, **values: Sequence[Any]) -> Mark:
    about = {"kind": kind, "name": short(name), "group": name, "slot": slot, "legend": legend}
    return about | {key: _drawn(one) for key, one in values.items()}


def _drawn(values: Sequence[Any]) -> list[Any]:
    """As many digits as a screen can show of them: the table beside a chart has the numbers, results.csv all."""
    return [float(f"{one:.7g}") if isinstance(one, float) else one for one in values]
