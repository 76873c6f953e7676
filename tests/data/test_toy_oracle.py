"""The probabilities of the toy language, by brute force and by an independent reader."""

import copy
import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.data.toy import TINY, made, texts
from zoo.data.toy.document import situations
from zoo.data.toy.grammar import UNIT, mix, weights, zipf
from zoo.data.toy.oracle import Oracle
from zoo.data.toy.settings import Settings
from zoo.data.toy.skills import Skill
from zoo.data.toy.tables import row_weights
from zoo.data.toy.words import ALL, SURFACES

LANGUAGES = [
    {"lexicon": 20},
    {
        "lexicon": 6,
        "nesting": 0.5,
        "distractors": 0.3,
        "most_distractors": 3,
        "copying": 0.3,
        "letters": 16,
        "recall": 0.3,
    },
    {"lexicon": 6, "recall": 0.8, "people": 16, "copying": 0.0, "facts": 0.1, "arithmetic": 0.1, "shortest": 300},
    {"lexicon": 6, "reference": 1.0, "recall": 0.0, "facts": 0.0, "arithmetic": 0.0, "plurals": 1.0, "sentences": 1.0},
]


def fork(oracle: Oracle, word: str) -> Oracle:
    """The oracle after that word; the one before stays as it is."""
    after = copy.copy(oracle)
    after.reader = copy.deepcopy(oracle.reader)
    after.read(word)
    return after


def every_document(
    oracle: Oracle, said: tuple[str, ...], p: Fraction, words: int = 99
) -> Iterator[tuple[tuple[str, ...], Fraction]]:
    """All documents that begin like that, with their probabilities; or their beginnings of that many words."""
    if oracle.ended or len(said) == words:
        yield said, p
        return
    for word, one in oracle.next().items():
        yield from every_document(fork(oracle, word), (*said, word), p * one.probability, words)


@cache
def tiny() -> dict[tuple[str, ...], Fraction]:
    """Every document about farms of a tiny language, with its probability."""
    oracle = Oracle(Settings(**TINY))
    for word in ("about", "farms"):
        oracle.read(word)
    listed = list(every_document(oracle, ("about", "farms"), Fraction(1)))
    found = dict(listed)
    assert len(found) == len(listed)  # no document comes about in two ways
    return found


@pytest.mark.unchecked
def test_the_probabilities_of_all_documents_sum_to_exactly_one() -> None:
    assert len(tiny()) > 1500
    assert sum(tiny().values()) == 1


def test_what_was_said_of_a_person_is_certain_and_all_else_is_free() -> None:
    others: dict[str, Any] = {"copying": 0.0, "facts": 0.0, "arithmetic": 0.0}
    oracle = Oracle(Settings(lexicon=1, recall=1.0, people=2, relations=3, shortest=0, **others))
    oracle.score(["about", "farms", ".", "colour", "amy", "red", "."])
    listed = list(every_document(oracle, (), Fraction(1), words=5))
    assert len(dict(listed)) == len(listed) > 100
    assert sum(p for _, p in listed) == 1
    values = {one[:2]: {other[2] for other, _ in listed if other[:2] == one[:2]} for one, _ in listed if len(one) > 2}
    assert values[("colour", "amy")] == {"red"}
    assert all(len(one) == 8 for about, one in values.items() if about != ("colour", "amy"))


def test_no_two_documents_are_written_alike() -> None:
    written = {b"".join(SURFACES[ALL.index(word)] for word in one) for one in tiny()}
    assert len(written) == len(tiny())


def test_the_reported_floor_of_a_document_is_its_enumerated_probability() -> None:
    documents = made(800, **TINY)
    for text, a, b in zip(texts(documents), documents.offsets, documents.offsets[1:], strict=False):
        if text[1] == "farms":
            floor = documents.floor[a + 2 : b].sum(dtype=np.float64)
            assert floor == pytest.approx(-math.log(tiny()[tuple(text)]), abs=1e-5)


def test_documents_occur_as_often_as_their_probability_says() -> None:
    count = 60_000
    found = Counter(tuple(text) for text in texts(made(count, seed=3, **TINY)) if text[1] == "farms")
    about_farms = sum(found.values())
    assert about_farms == pytest.approx(count / 8, abs=5 * math.sqrt(count / 8))
    assert set(found) <= set(tiny())
    likely = sorted(tiny(), key=lambda one: -tiny()[one])[:200]
    deviations = [
        (found[one] - about_farms * p) / math.sqrt(about_farms * p * (1 - p))
        for one, p in ((one, float(tiny()[one])) for one in likely)
    ]
    assert max(map(abs, deviations)) < 5
    assert np.mean(np.square(deviations)) == pytest.approx(1, abs=0.5)


@pytest.mark.parametrize("settings", LANGUAGES)
def test_the_generator_reports_what_the_oracle_knows(settings: dict[str, float]) -> None:
    documents, oracle = made(12, split=2, seed=5, **settings), Oracle(Settings(**settings))  # type: ignore[arg-type]
    known = [one for text in texts(documents) for one in oracle.score(text)]
    assert [one.skill for one in known] == documents.skill.tolist()
    assert [one.distance for one in known] == documents.distance.tolist()
    assert np.allclose([one.nats for one in known], documents.floor, rtol=1e-6, atol=0)
    assert [one.probability == 1 for one in known] == (documents.floor == 0).tolist()


@pytest.mark.parametrize("settings", LANGUAGES)
def test_the_next_words_have_probabilities_that_sum_to_one(settings: dict[str, float]) -> None:
    oracle = Oracle(Settings(**settings))  # type: ignore[arg-type]
    for text in texts(made(2, **settings)):
        oracle.restart()
        for word in text:
            assert sum(one.probability for one in oracle.next().values()) == 1
            oracle.read(word)
        assert oracle.ended
        assert oracle.next() == {}


def test_a_word_that_cannot_come_is_refused() -> None:
    oracle = Oracle(Settings())
    with pytest.raises(ValueError, match="'dogs' cannot come at place 0"):
        oracle.score(["dogs"])


@pytest.mark.parametrize("settings", LANGUAGES)
def test_every_row_is_a_distribution_over_different_words(settings: dict[str, float]) -> None:
    made = situations(Settings(**settings))  # type: ignore[arg-type]
    for situation in made.values():
        for row in situation.rows:
            assert sum(row_weights(row)) == UNIT  # and raises for a word that stands twice
    assert {one.goto for situation in made.values() for row in situation.rows for one in row} <= {*made, "end"}


@given(st.lists(st.fractions(0, 10), min_size=1, max_size=30).filter(any))
def test_weights_sum_to_one_and_are_as_near_to_the_shares_as_whole_numbers_can_be(shares: list[Fraction]) -> None:
    found = weights(shares)
    assert sum(found) == UNIT
    assert all(abs(one - share * UNIT / sum(shares)) < 1 for one, share in zip(found, shares, strict=True))


def test_zipf_is_the_power_law_and_shares_of_zero_are_left_out() -> None:
    assert [float(one / zipf(4, 1.0)[0]) for one in zipf(4, 1.0)] == pytest.approx([1, 1 / 2, 1 / 3, 1 / 4], rel=1e-8)
    assert len(set(zipf(9, 0.0))) == 1
    assert mix((0.0, [])) == ()


def test_each_skill_occurs_with_the_default_settings() -> None:
    assert set(made(300).skill.tolist()) == set(map(int, Skill))
