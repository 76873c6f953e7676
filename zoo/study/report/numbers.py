"""Small sums that several sections need."""

import bisect
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

TO = "\u00a0…\u00a0"

Series = tuple[tuple[float, ...], tuple[float, ...]]
"""x, rising, and y."""


def mean(values: Sequence[int | float]) -> float | None:
    """Their mean; None for none."""
    return sum(values) / len(values) if values else None


def spread(values: Sequence[float], digits: int = 3) -> str | None:
    """The least and the greatest, where there are two."""
    return f"{min(values):.{digits}f}{TO}{max(values):.{digits}f}".replace("-", "−") if len(values) > 1 else None


def between(low: float, high: float) -> str:
    """An interval, in one line."""
    return f"{low:+.4f}{TO}{high:+.4f}".replace("-", "−")


def series(points: Sequence[Mapping[str, Any]], x: str, y: str = "loss") -> Series:
    """The points that have both, by rising x; of equal x the last."""
    found = {
        float(point[x]): float(point[y])
        for point in points
        if isinstance(point.get(x), int | float) and isinstance(point.get(y), int | float)
    }
    at = sorted(found)
    return tuple(at), tuple(found[one] for one in at)


def at(line: Series, x: float) -> float | None:
    """The line at x, between its points; None outside of them: nothing is extrapolated."""
    xs, ys = line
    if not xs or not xs[0] <= x <= xs[-1]:
        return None
    right = bisect.bisect_left(xs, x)
    if xs[right] == x:
        return ys[right]
    share = (x - xs[right - 1]) / (xs[right] - xs[right - 1])
    return ys[right - 1] + share * (ys[right] - ys[right - 1])


def grid(lines: Sequence[Series], most: int = 60) -> list[float]:
    """Places of x where all lines are: those that they have, thinned to `most`, the ends kept."""
    lines = [line for line in lines if line[0]]
    if not lines:
        return []
    low, high = max(line[0][0] for line in lines), min(line[0][-1] for line in lines)
    places = sorted({x for line in lines for x in line[0] if low <= x <= high})
    if len(places) <= most:
        return places
    picked = {round(i * (len(places) - 1) / (most - 1)) for i in range(most)}
    return [places[i] for i in sorted(picked)]


def alike(validations: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Those that scored as many targets as most of them did: on the way it may be a part of the split, in the end the
    whole, whose loss is another."""
    counts = Counter(one.get("scored") for one in validations)
    most = max(counts, key=lambda count: counts[count], default=None)
    return [one for one in validations if one.get("scored") == most]


def flat(value: Any, at: str = "") -> dict[str, Any]:
    """Nested mappings as one, with dotted keys."""
    if not isinstance(value, Mapping):
        return {at: value}
    return {
        key: one for name, inner in value.items() for key, one in flat(inner, f"{at}.{name}" if at else name).items()
    }


def plus(value: float, digits: int = 4) -> str:
    """A difference in running text."""
    return f"{value:+.{digits}f}".replace("-", "−")


def listed(names: Sequence[str], most: int = 5) -> str:
    """Names in backquotes, not more than fit in a sentence."""
    shown = [f"`{name}`" for name in names[:most]]
    rest = [f"{len(names) - most} more"] if len(names) > most else []
    parts = [*shown, *rest]
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}" if parts else ""
