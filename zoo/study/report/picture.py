"""The verdicts as one small picture, for a README: each comparison with its interval, in light and dark."""

import math
from html import escape

from zoo.number import counted
from zoo.page.text import short
from zoo.study.metric import read_metric
from zoo.study.report.findings import Findings
from zoo.study.report.numbers import plus
from zoo.study.verdict import Row

WIDTH, LEFT, RIGHT, TOP, ROW, BOTTOM = 860, 190, 680, 64, 30, 62
"""Pixels: of the whole, of the ends of the axis, above the first row, of a row, below the last."""

CLASSES = {"better": "good", "worse": "bad"}

STYLE = """
text { font: 14px system-ui, "Segoe UI", "Liberation Sans", Arial, sans-serif; fill: #1b1f24; }
.title { font-weight: 600; font-size: 16px; } .soft { fill: #59636e; font-size: 12.5px; }
.ground { fill: #ffffff; } .grid { stroke: #e8ebee; } .zero { stroke: #59636e; stroke-dasharray: 4 3; }
line.good { stroke: #00684a; } line.bad { stroke: #a8321a; } line.flat { stroke: #59636e; }
line.good, line.bad, line.flat { stroke-width: 2.5; }
circle.good, text.good { fill: #00684a; } circle.bad, text.bad { fill: #a8321a; } circle.flat { fill: #59636e; }
text.good, text.bad { font-weight: 600; }
@media (prefers-color-scheme: dark) {
text { fill: #e7eaee; } .soft { fill: #a3adb8; } .ground { fill: #14171c; } .grid { stroke: #2a3038; }
.zero { stroke: #a3adb8; } line.good { stroke: #5fd0a5; } line.bad { stroke: #ff9a7d; } line.flat { stroke: #a3adb8; }
circle.good, text.good { fill: #5fd0a5; } circle.bad, text.bad { fill: #ff9a7d; } circle.flat { fill: #a3adb8; }
}
"""


def picture(findings: Findings) -> str:
    """An SVG; with its title alone where no two variants have a score of the same seed."""
    rows = [row for row in findings.rows if row.difference is not None]
    low, high = _ends(rows)
    height = TOP + ROW * len(rows) + BOTTOM
    body = [*_axis(low, high, height)] if rows else []
    for number, row in enumerate(rows):
        body += _row(row, TOP + ROW * number + ROW // 2, low, high)
    title = escape(short(findings.question.question, 100))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{title}">',
            f"<style>{STYLE}</style>",
            f'<rect class="ground" width="{WIDTH}" height="{height}" rx="10"/>',
            f'<text class="title" x="20" y="34">{title}</text>',
            *body,
            f'<text class="soft" x="20" y="{height - 16}">{escape(_says(findings, rows))}</text>',
            "</svg>\n",
        ]
    )


def _ends(rows: list[Row]) -> tuple[float, float]:
    """The least and the greatest end of an interval, nought among them, with some room."""
    ends = [0.0]
    for row in rows:
        found = row.difference
        if found is not None:
            ends += [one for one in (found.mean, found.low, found.high) if one is not None]
    room = 0.04 * (max(ends) - min(ends)) or 1.0
    return min(ends) - room, max(ends) + room


def _at(value: float, low: float, high: float) -> str:
    return f"{LEFT + (RIGHT - LEFT) * (value - low) / (high - low):.1f}"


def _axis(low: float, high: float, height: int) -> list[str]:
    """Lines at round numbers, five or so."""
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * one for one in (1, 2, 5, 10) if power * one >= rough)
    digits = max(0, -math.floor(math.log10(step)))
    end = height - BOTTOM + 4
    found = []
    for number in range(math.ceil(low / step), math.floor(high / step) + 1):
        x, kind = _at(number * step, low, high), "grid" if number else "zero"
        label = plus(number * step, digits) if number else "0"
        found.append(f'<line class="{kind}" x1="{x}" x2="{x}" y1="{TOP - 8}" y2="{end}"/>')
        found.append(f'<text class="soft" x="{x}" y="{end + 16}" text-anchor="middle">{label}</text>')
    return found


def _row(row: Row, y: int, low: float, high: float) -> list[str]:
    found, kind = row.difference, CLASSES.get(row.verdict, "flat")
    if found is None:
        return []
    lines = [f'<text x="{LEFT - 14}" y="{y + 5}" text-anchor="end">{escape(short(row.variant, 26))}</text>']
    if found.low is not None and found.high is not None:
        ends = f'x1="{_at(found.low, low, high)}" x2="{_at(found.high, low, high)}" y1="{y}" y2="{y}"'
        lines.append(f'<line class="{kind}" {ends}/>')
    lines.append(f'<circle class="{kind}" cx="{_at(found.mean, low, high)}" cy="{y}" r="5"/>')
    says = f"{plus(found.mean, 3)} {row.verdict}"
    return [*lines, f'<text class="{kind}" x="{RIGHT + 14}" y="{y + 5}">{says}</text>']


def _says(findings: Findings, rows: list[Row]) -> str:
    if not rows:
        return "No two variants have a score of the same seed yet."
    others = {row.against for row in rows}
    named = f"'{others.pop()}'" if len(others) == 1 else "the one that it is compared with"
    against = f"to {'the one before it' if findings.question.chain else named}"
    seeds = {row.n for row in rows}
    pairs = counted(max(seeds), "seed") if len(seeds) == 1 else f"{min(seeds)} to {max(seeds)} seeds"
    side = "left" if read_metric(findings.question.metric).sign > 0 else "right"
    what = f"Change of {findings.question.metric} ({findings.unit}) {against}, 95 % interval, {pairs}"
    return f"{what}; {side} is better."
