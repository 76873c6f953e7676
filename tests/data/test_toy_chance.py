"""Guessing scores on the toy language what its chance lines say: counted in documents, by the form of the sentence."""

import math
from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pytest

from tests.data.toy import made, texts
from zoo.data.toy import words
from zoo.data.toy.chance import lines
from zoo.data.toy.settings import Settings
from zoo.data.toy.skills import Skill

pytestmark = pytest.mark.unchecked  # thousands of calls that test_toy_generator.py checks


def form(text: list[str], place: int) -> str:
    """What a guesser knows: the part of the sentence that the word stands in, not what it depends on."""
    before = text[place - 1]
    return "quality" if before in ("is", "are") else text[place - 2] if before in words.NAMES else before


@pytest.mark.parametrize(
    "keys",
    [{}, {"plurals": 0.1, "reference": 0.9, "topics": 0.9}, {"lexicon": 1, "reference": 0.9, "nesting": 0.4}],
    ids=str,
)
def test_guessing_by_frequency_scores_the_chance_line(keys: dict[str, Any]) -> None:
    documents = made(2500, seed=11, shortest=0, **{"recall": 0.3, **keys})
    said: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for text, a in zip(texts(documents), documents.offsets.tolist(), strict=False):
        for i, word in enumerate(text):
            skill = Skill(int(documents.skill[a + i])).name.lower()
            if documents.floor[a + i] == 0 and skill not in ("grammar", "lexical"):
                kind = "" if skill not in ("reference", "recall") else form(text, i)
                number = word if skill != "agreement" else str(word in ("are", *words.INTRANSITIVE))
                number = number if skill != "nesting" else str(word in words.TRANSITIVE)
                said[skill][kind][number] += 1
    known = lines(Settings(**{"recall": 0.3, **keys}))
    assert set(said) == set(known)
    for skill, kinds in said.items():
        total = sum(sum(one.values()) for one in kinds.values())
        right = sum(max(one.values()) for one in kinds.values()) / total
        nats = sum(-n * math.log(n / sum(one.values())) for one in kinds.values() for n in one.values()) / total
        chance = known[skill]["chance"]
        assert right == pytest.approx(chance.accuracy, abs=4 / np.sqrt(total)), skill
        assert nats == pytest.approx(chance.nats, abs=8 / np.sqrt(total) + 60 / total), skill
