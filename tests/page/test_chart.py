"""Charts are drawn to scale, in a real browser: their axes, their marks, what is said of them."""

from pathlib import Path

import pytest

from tests.page.chromium import CHROMIUM, Browser
from zoo.page import Axis, Figure, Page, Section, dots, heat, html, intervals, line

pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason="there is no /usr/bin/chromium here")

AXES = """
(() => {
  const labels = (axis, values, count) =>
    scaleOf(axis, values).ticks(count).map((one) => [one.lines.join(" "), one.share]);
  return [
    labels({}, [0, 1], 5),
    labels({ zero: true }, [0.02, 0.04], 3),
    labels({ log: true }, [1, 1000, 3, 7, 20, 90, 300, 500, 800], 4),
    labels({ log: true }, [32, 64, 128], 6),
    labels({ categories: ["b", "a"], labels: [["b"], ["a", "lot"]] }, ["b", "a"], 5),
    [0, -1500, 20000, 1.5e6, 3e-6].map((one) => numberText(one, 1)),
  ];
})()
"""

SYMBOLS = (
    "[...document.querySelectorAll('.mark path[transform]')]"
    ".map(one => one.getAttribute('transform').match(/[0-9.]+/g).map(Number))"
)


def written(folder: Path, *figures: Figure) -> Path:
    """A page of these figures."""
    path = folder / "page.html"
    path.write_text(html(Page("t", "a", [Section("s", "S", figures)])))
    return path


def test_axes_have_round_numbers_where_they_belong(tmp_path: Path) -> None:
    with Browser() as browser:
        browser.open(written(tmp_path), width=1000)
        even, zero, log, few, words, texts = browser.ask(AXES)
    room = 0.05 / 1.1  # on either side
    assert [one[0] for one in even] == ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
    assert [one[1] for one in even] == pytest.approx([room + number / 5 / 1.1 for number in range(6)])
    assert [one[0] for one in zero] == ["0.00", "0.02", "0.04"]
    assert [one[0] for one in log] == ["1", "10", "100", "1000"]
    assert [one[1] for one in log] == pytest.approx([room + power / 3.3 for power in range(4)])
    assert [one[0] for one in few] == ["32", "64", "128"]  # a tick for each value
    assert [one[1] for one in few] == pytest.approx([room, 0.5, 1 - room])
    assert words == [["b", 0.25], ["a lot", 0.75]]
    assert texts == ["0", "−1500", "20k", "1.5M", "3e−6"]


def test_marks_lie_at_their_values_and_say_them_and_a_series_can_be_taken_out(tmp_path: Path) -> None:
    marks = [line("up", [0.0, 1.0, 2.0], [1.0, None, 3.0], 1, dots=True), dots("<one>", [2.0], [2.0], 3)]
    path = written(tmp_path, Figure("f", marks, Axis("x"), Axis("y")))
    with Browser() as browser:
        browser.open(path, width=1000)
        (left, low), (right, high), (x, middle) = (place[:2] for place in browser.ask(SYMBOLS))
        assert x == right > left
        assert middle == pytest.approx((low + high) / 2, abs=0.2)
        assert high < low  # larger values stand above
        drawn = browser.ask("document.querySelector('.mark.line path').getAttribute('d')")
        assert drawn.count("M") == 2  # a gap where there is no value
        at = f"clientX: box.left + {x}, clientY: box.top + {middle}"
        move = f"picture.dispatchEvent(new PointerEvent('pointermove', {{{at}}}))"
        picture = "const picture = document.querySelector('.drawn'), box = picture.getBoundingClientRect()"
        browser.ask(f"(() => {{ {picture}; {move}; }})()")
        assert browser.ask("document.querySelector('.said').textContent") == "<one>\n2, 2"
        names = "[...document.querySelectorAll('.legend button')].map(one => one.textContent)"
        assert browser.ask(names) == ["up", "<one>"]
        for left_over in (1, 2):
            browser.ask("document.querySelector('.legend button').click()")
            assert browser.ask("document.querySelectorAll('.mark').length") == left_over
        assert not browser.complaints


def test_intervals_end_where_they_say_and_a_lone_point_of_a_line_is_seen(tmp_path: Path) -> None:
    forest = [intervals("d", [1.0], ["a"], [-1.0], [3.0], 0)]
    alone = [line("l", [4.0], [5.0], 0)]
    figures = (
        Figure("f", forest, Axis("d"), Axis("", categories=("a", "b")), zero="x"),
        Figure("g", alone, Axis("x"), Axis("y")),
    )
    with Browser() as browser:
        browser.open(written(tmp_path, *figures), width=1000)
        ends = browser.ask("document.querySelector('.intervals path').getAttribute('d')")
        low, high = (float(end.split(",")[0].lstrip("ML")) for end in ends.replace("L", " ").split("M")[1].split())
        nought = float(browser.ask("document.querySelector('.zero').getAttribute('d')").lstrip("M").split(",")[0])
        (middle, *_), (x, y, *_) = browser.ask(SYMBOLS)
        assert middle == pytest.approx((low + high) / 2, abs=0.2)
        assert nought - low == pytest.approx((high - low) / 4, abs=0.2)
        assert x > 0
        assert y > 0


def test_a_heat_map_has_the_shade_of_each_value_and_few_elements(tmp_path: Path) -> None:
    places = [f"t{number}" for number in range(60)]
    values = [[(row + column) / 118 for column in range(60)] for row in range(60)]
    figure = Figure(
        "f", [heat("h", places, places, values, 0)], Axis("", categories=places), Axis("", categories=places)
    )
    with Browser() as browser:
        browser.open(written(tmp_path, figure), width=1000)
        paths = "[...document.querySelectorAll('.heat path')]"
        shades = browser.ask(
            f"{paths}.map(one => [+one.getAttribute('fill-opacity'), one.getAttribute('d').split('M').length - 1])"
        )
    assert len(shades) <= 64
    assert sum(count for _, count in shades) == 3600 - 1  # all but the one of nought
    assert max(shade for shade, _ in shades) == 1.0
    assert sum(shade * count for shade, count in shades) / 3600 == pytest.approx(0.5, abs=0.001)
