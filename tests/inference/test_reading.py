"""A text that is read while it is said is the text that is read at once."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.inference.runs import words
from zoo.data.tokenizer.bytes import Bytes
from zoo.inference.reading import Reading

HARD = "naïve 日本語 👩‍👩‍👧 e\u0301 \U0001f1eb\U0001f1f7 end"


def read(text: bytes, stops: list[str]) -> Reading:
    """Byte by byte; what is shown only ever grows."""
    reading, shown = Reading(Bytes(), stops, {256: "end mark"}), ""
    for byte in text:
        done = reading.push(byte)
        assert reading.text.startswith(shown)
        shown = reading.text
        if done:
            break
    reading.close()
    assert reading.text.startswith(shown)
    return reading


def expected(text: str, stops: list[str]) -> str:
    """Cut where a stop is complete first, by looking at every beginning of the text."""
    for end in range(1, len(text) + 1):
        found = [stop for stop in stops if text[:end].endswith(stop)]
        if found:
            return text[: end - max(map(len, found))]
    return text


@settings(max_examples=200, deadline=None)
@given(st.text("ab\u00e9", max_size=12), st.lists(st.text("ab\u00e9", min_size=1, max_size=4), max_size=3))
def test_a_stop_text_is_cut_exactly_wherever_tokens_end(text: str, stops: list[str]) -> None:
    assert read(text.encode(), stops).text == expected(text, stops)


def test_a_stop_text_that_spans_tokens_is_never_shown() -> None:
    reading = Reading(words(), ["agent le"], {})
    said = []
    for token in words().encode(b"the agent learns").tolist():
        reading.push(token)
        said.append(reading.text)
    assert said == ["the", "the ", "the "]
    assert reading.ended == "stop 'agent le'"


def test_no_character_is_shown_before_it_is_whole() -> None:
    reading = Reading(Bytes(), [], {})
    shown = [""]
    for byte in HARD.encode():
        reading.push(byte)
        shown.append(reading.text)
        assert HARD.startswith(reading.text)
    assert {b[len(a) :] for a, b in itertools.pairwise(shown)} == {"", *HARD}


@pytest.mark.parametrize(("data", "text"), [(b"ok\xf0\x9f", "ok\ufffd"), (b"a\xffb", "a\ufffdb")])
def test_only_what_is_no_character_becomes_a_replacement_mark(data: bytes, text: str) -> None:
    assert read(data, []).text == text == data.decode("utf-8", "replace")


def test_a_mark_ends_a_row_and_is_no_text() -> None:
    reading = Reading(Bytes(), ["xyz"], {257: "end mark"})
    assert [reading.push(token) for token in (120, 121, 257, 122)] == [False, False, True, True]
    assert (reading.text, reading.ended, reading.tokens) == ("xy", "end mark", [120, 121, 257])
