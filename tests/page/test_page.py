"""A page says what it is given, escapes it, and has all that it needs inside."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.page.chromium import CHROMIUM, Browser
from zoo.page import (
    Axis,
    Column,
    Figure,
    Page,
    Section,
    Table,
    Word,
    band,
    dots,
    height_of,
    html,
    intervals,
    line,
    markdown,
    trimmed,
)
from zoo.page.text import shown

EVIL = "</script><b>x</b> & `code` | pipe"
TABLE = Table(
    [Column("name"), Column("loss (nats)", digits=3, sign=True), Column("steps"), Column("verdict")],
    [
        [EVIL, 0.5, 10, Word("better", "good")],
        ["b", -1.25, 9_000, Word("worse", "bad")],
        ["c", None, 100, Word("open", "open")],
    ],
    "three | rows",
)
X = [100.0, 1000.0]
FIGURES = (
    Figure(
        f"Lines of {EVIL}",
        [band("a", X, [1.0, 2.0], [2.0, 3.0], 0), line("a", X, [1.5, None], 0), line(EVIL, X, [2.0, 1.0], 9)],
        Axis("tokens", log=True),
        Axis("loss (nats per token)"),
        TABLE,
    ),
    Figure(
        "Intervals",
        [intervals("d", [0.5, -1.0], ["b", EVIL], [0.1, -2.0], [0.6, 0.0], 1), dots("e", [0.2], ["b"], 2)],
        Axis("difference"),
        Axis("", categories=("b", EVIL)),
        height=height_of("ab"),
        zero="x",
    ),
)
PAGE = Page(
    EVIL, "The answer.", [Section("first", "First", ["Text.", TABLE, *FIGURES]), Section("gone", "Gone", missing="No.")]
)


TALL = Table([Column("x"), Column("y"), Column("z")], [[number, 2 * number, None] for number in range(16)])


class Reader(HTMLParser):
    """The text that a browser would show, and every address."""

    def __init__(self) -> None:
        super().__init__()
        self.text, self.tags, self.addresses = "", [], []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value for key, value in attrs if key in ("src", "href") and not str(value).startswith("#")]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_what_stands_in_a_page_is_text() -> None:
    reader = Reader()
    reader.feed(html(PAGE))
    assert "</script><b>x</b> & code | pipe" in reader.text
    assert "b" not in reader.tags
    assert not reader.addresses
    assert reader.tags.count("table") == 2


def test_a_page_without_figures_is_small_and_one_with_figures_has_the_library_once() -> None:
    small = html(Page("t", "a", [Section("s", "S", [TABLE])]))
    assert len(small) < 30_000
    assert html(PAGE).count("plotly.js v") == 1


def test_plotly_knows_every_key_of_a_figure() -> None:
    from plotly import graph_objects

    for figure in FIGURES:
        for mark in figure.marks:
            graph_objects.Scatter(**mark)


def test_markdown_has_the_numbers_and_the_findings() -> None:
    text = markdown(PAGE)
    assert "| b | −1.250 | 9,000 | worse |" in text
    assert "| --- | ---: | ---: | --- |" in text
    assert r"</script><b>x</b> & `code` \| pipe" in text
    assert "**Lines of" in text
    assert "## Gone\n\nNo." in text


def test_columns_with_nothing_to_say_go_and_only_a_long_table_has_its_own_scroll_bar() -> None:
    assert trimmed(TALL).rows == [[number, 2 * number] for number in range(16)]
    assert [column.name for column in trimmed(TALL).columns] == ["x", "y"]
    for rows, tall in ((TALL.rows, True), (TALL.rows[:15], False)):
        text = html(Page("t", "a", [Section("s", "S", [Table(TALL.columns, rows)])]))
        assert ('class="table tall"' in text) is tall


@pytest.mark.parametrize(
    ("cell", "column", "text"),
    [
        (None, Column("x"), "—"),
        (float("nan"), Column("x", 2), "—"),
        (float("inf"), Column("x"), "∞"),
        (1234567, Column("x"), "1,234,567"),
        (-0.00012345, Column("x"), "−0.0001234"),
        (0.5, Column("x", 3, sign=True), "+0.500"),
    ],
)
def test_numbers_are_written_for_people(cell: int | float | None, column: Column, text: str) -> None:
    assert shown(cell, column) == text


def _rgb(colour: str) -> list[float]:
    values = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in values]


# Machado, Oliveira & Fernandes 2009, severity 1, on linear RGB
SIGHTS = {
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "full": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
}


def _lab(rgb: list[float]) -> list[float]:
    """OKLab (Ottosson 2020), where a distance of 0.02 is just seen."""
    r, g, b = (max(one, 0.0) for one in rgb)
    cone = [
        0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b,
        0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b,
        0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b,
    ]
    x, y, z = (one ** (1 / 3) for one in cone)
    return [
        0.2104542553 * x + 0.793617785 * y - 0.0040720468 * z,
        1.9779984951 * x - 2.428592205 * y + 0.4505937099 * z,
        0.0259040371 * x + 0.7827717662 * y - 0.808675766 * z,
    ]


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_colours_can_be_told_apart_by_everyone(sight: str, theme: int) -> None:
    css = (Path(__file__).parents[2] / "zoo" / "page" / "page.css").read_text()
    colours = re.findall(r"--series-\d: (#[0-9a-f]{6})", css)[theme * 8 : theme * 8 + 8]
    assert len(colours) == 8
    seen = [_lab([sum(m * v for m, v in zip(row, _rgb(c), strict=True)) for row in SIGHTS[sight]]) for c in colours]
    for place, one in enumerate(seen):
        for other in range(place):
            distance = sum((a - b) ** 2 for a, b in zip(one, seen[other], strict=True)) ** 0.5
            assert distance > 0.1, (colours[place], colours[other], distance)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_words_and_lines_stand_out_from_the_ground(theme: int) -> None:
    css = (Path(__file__).parents[2] / "zoo" / "page" / "page.css").read_text()
    named = re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6})", css)
    values = dict(named[: len(named) // 2] if theme == 0 else named[len(named) // 2 :])

    def light(colour: str) -> float:
        return sum(w * v for w, v in zip((0.2126, 0.7152, 0.0722), _rgb(colour), strict=True))

    def contrast(a: str, b: str) -> float:
        high, low = sorted((light(a), light(b)), reverse=True)
        return (high + 0.05) / (low + 0.05)

    for name in ("ink", "soft", "link", "good", "bad", "flat", "open"):
        assert contrast(values[name], values["ground"]) > 4.5, name
        assert contrast(values[name], values["raised"]) > 4.5, name
    for slot in range(8):
        assert contrast(values[f"series-{slot}"], values["ground"]) > 2.8, slot


@pytest.mark.skipif(not CHROMIUM.exists(), reason="there is no /usr/bin/chromium here")
def test_a_browser_draws_the_page_and_sorts_its_tables(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(html(PAGE))
    with Browser() as browser:
        for width, dark in ((400, True), (1600, False)):
            browser.open(path, width=width, dark=dark)
            assert browser.ask("document.querySelectorAll('.chart .main-svg .trace').length") == 5
            assert browser.ask("document.documentElement.scrollWidth <= innerWidth")
        names = "[...document.querySelectorAll('table')[0].tBodies[0].rows].map(row => row.cells[2].textContent)"
        click = "document.querySelectorAll('table')[0].querySelectorAll('th button')[%d].click()"
        browser.ask(click % 1)
        assert browser.ask(names) == ["9,000", "10", "100"]  # what has no value stays below
        browser.ask(click % 1)
        assert browser.ask(names) == ["10", "9,000", "100"]
        browser.ask(click % 2)
        assert browser.ask(names) == ["10", "100", "9,000"]
        narrower = "document.querySelector('main').style.width = '300px'; new Promise(requestAnimationFrame)"
        browser.ask(f"{narrower}.then(() => new Promise(requestAnimationFrame))")
        widths = "[...document.querySelectorAll('.main-svg')].map(one => one.getBoundingClientRect().width)"
        assert max(browser.ask(widths)) <= 300  # the window has not changed
        assert set(browser.requests) == {path.as_uri()}
        assert not browser.complaints


@pytest.mark.skipif(not CHROMIUM.exists(), reason="there is no /usr/bin/chromium here")
def test_a_printed_table_fits_its_page_and_breaks_no_number_or_word(tmp_path: Path) -> None:
    """As wide as the verdicts of a chain, on paper of 182 mm between the margins."""
    heads = ["variant", "verdict", "difference (nats per token)", "95 % interval", "pairs", "p, corrected"]
    heads += ["p, not corrected", "mean (nats per token)", "against", "runs", "detectable (80 %)"]
    row = ["a long name of a variant", Word("worse", "bad"), 0.0246, "+0.0134\u00a0…\u00a0+0.0357", 9, 0.0352]
    row += [0.0078, 2.022, "transformer_2017", "18\u00a0done", 0.0286]
    table = Table(
        [Column(name, 4 if type(cell) is float else None) for name, cell in zip(heads, row, strict=True)], [row]
    )
    path = tmp_path / "page.html"
    path.write_text(html(Page("t", "a", [Section("s", "S", [table])])))
    lines = """[...document.querySelectorAll('td:not(:first-child)')].map((cell) => {
        const range = document.createRange();
        range.selectNodeContents(cell);
        return new Set([...range.getClientRects()].map((one) => Math.round(one.top))).size;
    })"""
    with Browser() as browser:
        browser.open(path, width=688, media="print")
        assert set(browser.ask(lines)) == {1}
        assert browser.ask(
            "document.querySelector('.table').scrollWidth <= document.querySelector('.table').clientWidth"
        )
