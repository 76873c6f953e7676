"""From the first toy language into the second: sentence by sentence, all of them at once.

The verb stands last, prepositions and adjectives after their noun, adverbs before their verb; articles, adjectives and
pronouns agree with their noun. But for synonyms nothing is left to choose, so the probability of each word is known.
"""

import math

import numpy as np
from jaxtyping import Int64, UInt32

from zoo.data.generated import END, Documents
from zoo.data.toy import words
from zoo.data.toy.grammar import UNIT
from zoo.data.toy.second import second
from zoo.data.toy.skills import Skill
from zoo.data.toy.words import ALL, ID

SYNONYM = UNIT // 4
"""The chance of the synonym, in 1/UNIT."""
Places = Int64[np.ndarray, "N"]


def _among(listed: list[str]) -> np.ndarray:
    """For each word whether it is in the list."""
    found = np.zeros(len(ALL), dtype=bool)
    found[[ID[word] for word in listed]] = True
    return found


NOUNS = [*words.CREATURES, *words.THINGS]
NOUN = _among([form for noun in NOUNS for form in (noun, words.plural(noun))])
TRANSITIVE = _among([form for verb in words.TRANSITIVE for form in (verb, words.singular(verb))])
SIZE, TEMPER, MATERIAL = _among(words.SIZES), _among(words.TEMPERS), _among(words.MATERIALS)
PREPOSITION, ADVERB = _among(words.PREPOSITIONS), _among(words.ADVERBS)
RELATION = _among(list(words.RELATIONS))
PRONOUN = _among(["it", "they"])
AFTER_NEXT = _among(["about", "lies", "plus", "minus"])
"""What follows the word that it stands before in the first language."""
THE, THAT, STOP = ID["the"], ID["that"], ID["."]

SKILL = np.full(len(ALL), Skill.LEXICAL, dtype=np.uint8)
"""What each word needs to be translated: its stem (lexical), what it agrees with, or to be copied."""
SKILL[[ID[word] for word in words.FUNCTION]] = Skill.GRAMMAR
SKILL[SIZE] = SKILL[THE] = SKILL[THAT] = Skill.AGREEMENT
SKILL[TEMPER | MATERIAL | PRONOUN] = Skill.REFERENCE
SKILL[[ID[word] for word in (*words.NAMES, *words.LETTERS, *words.LANDS, *words.CITIES, *words.NUMBERS)]] = (
    Skill.COPYING
)


def translate(documents: Documents, draws: UInt32[np.ndarray, "N"]) -> Documents:
    """The sentences of the documents and their translations: documents 2i and 2i + 1. `draws` has one random number
    for each word, which decides between synonyms."""
    keep = documents.words != END
    said = documents.words[keep]
    ends = np.flatnonzero(said == STOP)
    sentence = np.searchsorted(ends, np.arange(len(said)))
    order = np.lexsort((_order(said), sentence))
    made, floor = _words(said, _agreement(said, sentence, ends), draws[keep])
    lengths = np.diff(ends, prepend=-1)
    starts = np.concatenate([[0], np.cumsum(2 * lengths + 2)])
    inside = np.arange(len(said)) - (ends - lengths + 1)[sentence]
    source, target = starts[sentence] + inside, starts[sentence] + lengths[sentence] + 1 + inside
    total = int(starts[-1])
    pairs = Documents(
        np.full(total, END, dtype=np.int64),
        np.zeros(total, dtype=np.float32),
        np.zeros(total, dtype=np.uint8),
        np.zeros(total, dtype=np.int64),
        np.append(np.stack([starts[:-1], starts[:-1] + lengths + 1], 1).reshape(-1), total),
    )
    pairs.words[source], pairs.words[target] = said, made[order]
    pairs.skill[target], pairs.floor[target] = SKILL[said][order], floor[order]
    return pairs


def _order(said: Places) -> Places:
    """Where each word goes: 4 · its place, and a little more or less."""
    place = np.arange(len(said))
    next, after = _shift(said, 1), _shift(said, 2)
    key = 4 * place
    key[SIZE[said]] += 5  # after its noun
    key[PREPOSITION[said] | RELATION[said]] += 9  # after "the" and the noun, after the name and what it gets
    main = TRANSITIVE[said] & (next == THE)  # inside a relative clause the object has gone before
    key[main] += np.where(SIZE[after[main]], 14, 10)  # after the object and its adjective
    key[ADVERB[said]] -= 5
    copula = (TEMPER | MATERIAL)[next] & PRONOUN[_shift(said, -1)]
    key[copula | AFTER_NEXT[said]] += 5
    return key


def _agreement(said: Places, sentence: Places, ends: Int64[np.ndarray, "S"]) -> Places:
    """2 · number + gender of the noun that each word agrees with, 0 for none."""
    of_noun = second().agreement
    nouns = np.flatnonzero(NOUN[said])
    agreement = np.where(NOUN[said], of_noun[said], 0)
    next, after = _shift(said, 1), _shift(said, 2)
    article = said == THE
    agreement[article] = of_noun[np.where(NOUN[next], next, after)][article]
    agreement[SIZE[said]] = of_noun[next][SIZE[said]]
    agreement[said == THAT] = of_noun[_shift(said, -1)][said == THAT]
    begins = np.concatenate([[0], ends[:-1] + 1])
    first_noun = nouns[np.minimum(np.searchsorted(nouns, begins), max(len(nouns) - 1, 0))] if len(nouns) else begins
    subject = said[first_noun][sentence]
    for what, quality, back in ((PRONOUN[said], after, 2), ((TEMPER | MATERIAL)[said], said, 4)):
        noun = np.where(TEMPER[quality], subject, _shift(said, -back))
        agreement[what] = of_noun[noun][what]
    return agreement


def _words(said: Places, agreement: Places, draws: np.ndarray) -> tuple[Places, np.ndarray]:
    """The translation of each word and its floor."""
    language = second()
    first, other = language.forms[said, agreement], language.synonyms[said, agreement]
    chosen = first != other
    second_one = chosen & (draws < SYNONYM)
    object = (said == THE) & TRANSITIVE[_shift(said, -1)]
    made = np.where(object, language.accusative[agreement], np.where(second_one, other, first))
    rare, frequent = -math.log(SYNONYM / UNIT), -math.log(1 - SYNONYM / UNIT)
    return made, np.where(second_one, rare, frequent) * chosen


def _shift(said: Places, by: int) -> Places:
    """The word that stands `by` places later; `END` beyond the text."""
    shifted = np.full_like(said, END)
    if by > 0:
        shifted[:-by] = said[by:]
    else:
        shifted[-by:] = said[:by]
    return shifted
