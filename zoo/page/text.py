"""How cells are written out."""

import math
import re

from zoo.page.content import Cell, Column, Word

NOTHING = "—"


def shown(cell: Cell, column: Column) -> str:
    """The text of a cell: `1,234`, `+0.012`, `—` for nothing and for what is no number."""
    match cell:
        case None:
            return NOTHING
        case Word():
            return cell.text
        case str():
            return cell
        case bool():
            return "yes" if cell else "no"
        case int() if column.digits is None:
            return f"{cell:+,}" if column.sign else f"{cell:,}"
        case _ if not math.isfinite(cell):
            return NOTHING if math.isnan(cell) else "∞" if cell > 0 else "−∞"
    if column.digits is not None:
        text = f"{cell:+,.{column.digits}f}" if column.sign else f"{cell:,.{column.digits}f}"
    else:
        text = f"{cell:+.4g}" if column.sign else f"{cell:.4g}"
    return text.replace("-", "−")


def sort_value(cell: Cell) -> str:
    """What the page sorts by: the whole number behind a rounded one, else the text in small letters."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if isinstance(cell, int | float):
        return repr(float(cell))
    return (cell.text if isinstance(cell, Word) else cell).lower()


def pieces(text: str) -> list[tuple[bool, str]]:
    """The text in pieces, each with whether it stood in backquotes."""
    parts = re.split(r"`([^`]*)`", text)
    return [(place % 2 == 1, part) for place, part in enumerate(parts) if part]


def quoted(text: str) -> str:
    """The text for where nothing is set as code: what stood in backquotes is in quotes, so that a name is no word."""
    return "".join(f"'{part}'" if code else part for code, part in pieces(text))


def wrapped(name: str, width: int = 20, most: int = 2) -> str:
    """A name in lines that fit beside a chart, broken where a word or an override ends, and cut after `most` lines."""
    lines = [""]
    for word in re.findall(r"[^\s=./_,]+[\s=./_,]*|[\s=./_,]+", name):
        if lines[-1] and len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] += word
    if len(lines) > most:
        lines = [*lines[: most - 1], f"{lines[most - 1].rstrip()}…"]
    return "<br>".join(line.rstrip().replace("&", "&amp;").replace("<", "&lt;") for line in lines)


def short(name: str, most: int = 32) -> str:
    """A name that fits into a legend."""
    return name if len(name) <= most else f"{name[: most - 1]}…"
