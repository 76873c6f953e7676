"""The skill and the distance of every word, found again by reading sentences without their grammar: the oracle takes
both from the same declarations as the generator, so it cannot tell whether they are the right ones."""

from typing import Any

import pytest

from tests.data.test_toy_language import NOUN, VERB
from tests.data.toy import made, texts
from zoo.data.toy import words
from zoo.data.toy.skills import Skill

pytestmark = pytest.mark.unchecked  # thousands of calls that test_toy_generator.py checks

Expected = list[tuple[Skill, int]]
FREE = {*words.SIZES, *words.ADVERBS, *words.PREPOSITIONS, *words.LETTERS, *words.LANDS, *words.NUMBERS, *words.TOPICS}
FREE |= {"plus", "minus"}


def free(word: str) -> tuple[Skill, int]:
    """What most words need that depend on no other."""
    return (Skill.LEXICAL if word in FREE or word in NOUN else Skill.GRAMMAR), 0


def clause(said: list[str]) -> Expected:
    """Verbs pay for the subjects that are open, the last one first; a pronoun and what follows, for its noun."""
    end = said.index("because") if "because" in said else len(said)
    found, still, subject, object = [free(word) for word in said], [], 0, 0
    for i, word in enumerate(said[:end]):
        if word in NOUN:
            article = i - 2 if said[i - 1] in words.SIZES else i - 1
            before = said[article - 1] if article else ""
            if before in ("", "that"):
                still.append(i)
                subject = subject or i
            elif before in VERB:
                object = i
        elif word in VERB:
            head = still.pop()
            inside = still or "that" in said[head:i]
            found[i] = (Skill.NESTING if inside else Skill.AGREEMENT), i - head
    if end < len(said):
        found[end + 1 :] = reason(said, end, subject, object)
    return found


def reason(said: list[str], end: int, subject: int, object: int) -> Expected:
    number = int(said[end + 1] == "they")
    agrees = object if NOUN[said[object]] == number else subject  # of two that do, the last one
    referent = subject if said[end + 3] in words.TEMPERS else object
    found = [(Skill.REFERENCE, end + 1 - agrees), (Skill.AGREEMENT, 1), (Skill.REFERENCE, end + 3 - referent)]
    for i, word in enumerate(said[end + 4 :], end + 4):
        meant = (Skill.REFERENCE, i - referent) if word == said[referent] else free(word)
        found.append((Skill.AGREEMENT, 1) if word in VERB else meant)
    return found


def person(said: list[str], place: int, known: dict[tuple[str, str], int]) -> Expected:
    last = known.get((said[0], said[1]))
    known[said[0], said[1]] = place + 2
    value = (Skill.LEXICAL, 0) if last is None else (Skill.RECALL, place + 2 - last)
    return [(Skill.LEXICAL, 0), (Skill.LEXICAL, 0), value, free(".")]


def expected(said: list[str], place: int, known: dict[tuple[str, str], int]) -> Expected:
    if said[0] == "the":
        return clause(said)
    if said[0] in words.RELATIONS:
        return person(said, place, known)
    found = [free(word) for word in said]
    if said[0] == "spell":
        letters = said.index(":") - 1
        found[letters + 2 :] = [(Skill.COPYING, letters + 1)] * (letters + 1)  # each, and where they end
    elif said[0] == "in":
        found[3] = Skill.FACTS, 2
    elif said[1] in ("plus", "minus"):
        found[4] = Skill.ARITHMETIC, 4  # to the first number
    return found


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"nesting": 0.5, "distractors": 0.4, "most_distractors": 3, "recall": 0.2, "reference": 0.9, "lexicon": 64},
        {"relations": 3, "people": 16, "recall": 0.7, "copying": 0.1, "letters": 16, "shortest": 400},
    ],
    ids=str,
)
def test_every_word_has_the_skill_and_the_distance_that_its_sentence_says(keys: dict[str, Any]) -> None:
    documents, seen = made(60, seed=5, **keys), set()
    for text, a in zip(texts(documents), documents.offsets, strict=False):
        known: dict[tuple[str, str], int] = {}
        first = 0
        for stop in (i for i, word in enumerate(text) if word == "."):
            for i, one in enumerate(expected(text[first : stop + 1], first, known), first):
                found = documents.skill[a + i], documents.distance[a + i]
                assert found == one, (" ".join(text[first : stop + 1]), text[i])
                seen.add(one[0])
            first = stop + 1
    assert seen == set(Skill)
