"""The words of the second toy language, into which the first is translated.

Nouns have a gender, and their article a case; adjectives and pronouns agree in gender and number. Every fourth stem has
a synonym. Names, letters, numbers and places stay what they are.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from jaxtyping import Int64

from zoo.data.toy import words
from zoo.data.toy.words import ALL, ID

SYLLABLES = [first + last for first in "bdgklmnprstv" for last in "aeiou"]
SYNONYM_EVERY, SYNONYMS_FROM = 4, 6 * len(SYLLABLES)
FUNCTION = {
    "the": ("il", "ela", "ili", "elan"),  # for 2 · number + gender
    "that": ("ke", "kea", "kei", "kean"),
    "it": ("ho", "hoa", "ho", "hoa"),
    "they": ("hoi", "hoan", "hoi", "hoan"),
    **{word: (one,) * 4 for word, one in {"is": "esu", "are": "esun", "about": "pri", "because": "char"}.items()},
    **{word: (one,) * 4 for word, one in {"so": "do", "spell": "liter", "in": "eni", "lies": "situ"}.items()},
    **{word: (one,) * 4 for word, one in {"plus": "plusu", "minus": "minusu"}.items()},
    **{word: (word,) * 4 for word in (".", ",", ":", *words.NAMES, *words.LETTERS)},
    **{word: (word,) * 4 for word in (*words.LANDS, *words.CITIES, *words.NUMBERS)},
}
ACCUSATIVE = ("ilu", "elu", "ilus", "elus")


@dataclass(frozen=True)
class Second:
    """What a translation has to know about each word of the first language."""

    forms: Int64[np.ndarray, "W 4"]
    """The id of its translation, by 2 · number + gender of what it agrees with."""
    synonyms: Int64[np.ndarray, "W 4"]
    """That of its other translation; the same where it has none."""
    accusative: Int64[np.ndarray, "4"]
    """The article of an object."""
    agreement: Int64[np.ndarray, "W"]
    """2 · number + gender of a noun."""
    surfaces: tuple[bytes, ...]
    """How each word of both languages is written."""


@cache
def second() -> Second:
    """The second language."""
    ids = dict(ID)
    forms, agreement = np.zeros((len(ALL), 4), dtype=np.int64), np.zeros(len(ALL), dtype=np.int64)

    def numbered(four: tuple[str, ...]) -> list[int]:
        return [ids.setdefault(one, len(ids)) for one in four]

    for word, four in FUNCTION.items():
        forms[ID[word]] = numbered(four)
    synonyms = forms.copy()
    for number, (word, endings) in _stems():
        other = number + SYNONYMS_FROM if number % SYNONYM_EVERY == 0 else number
        forms[ID[word]] = numbered(tuple(stem(number) + end for end in endings))
        synonyms[ID[word]] = numbered(tuple(stem(other) + end for end in endings))
    for i, noun in enumerate([*words.CREATURES, *words.THINGS]):
        agreement[ID[noun]], agreement[ID[words.plural(noun)]] = gender(i), 2 + gender(i)
    accusative = np.array(numbered(ACCUSATIVE), dtype=np.int64)
    return Second(forms, synonyms, accusative, agreement, tuple(words.surface(word) for word in ids))


def gender(noun: int) -> int:
    """0 or 1, for noun number `noun`: no rule that a model could see in the words."""
    return noun * 5 % 7 % 2


def stem(number: int) -> str:
    """Two syllables and a consonant, another one for each number."""
    first, second = number % len(SYLLABLES), number // len(SYLLABLES)
    return SYLLABLES[first] + SYLLABLES[(7 * second + 3 * first) % len(SYLLABLES)] + "n"


def _stems() -> Iterator[tuple[int, tuple[str, tuple[str, ...]]]]:
    """The number of the stem, the word of the first language, and four endings."""
    number = 0
    for noun in [*words.CREATURES, *words.THINGS]:
        vowel = "oa"[gender(number)]
        yield number, (noun, (vowel,) * 4)
        yield number, (words.plural(noun), (f"{vowel}s",) * 4)
        number += 1
    for verb in [*words.TRANSITIVE, *words.INTRANSITIVE]:
        yield number, (words.singular(verb), ("it",) * 4)
        yield number, (verb, ("int",) * 4)
        number += 1
    for adjective in [*words.SIZES, *words.TEMPERS, *words.MATERIALS]:
        yield number, (adjective, ("e", "ea", "es", "eas"))
        number += 1
    values = (value for pair in words.RELATIONS.items() for value in (pair[0], *pair[1]))
    for other in [*words.ADVERBS, *words.PREPOSITIONS, *words.TOPICS, *values]:
        yield number, (other, ("u",) * 4)
        number += 1
