"""What guessing scores on the words of the toy language that are determined."""

from fractions import Fraction

from zoo.data.generated import Line
from zoo.data.toy import words
from zoo.data.toy.clause import noun_shares
from zoo.data.toy.grammar import zipf
from zoo.data.toy.reference import CONSEQUENCE
from zoo.data.toy.settings import Settings, exact


def lines(s: Settings) -> dict[str, dict[str, Line]]:
    """Guessing by how often each answer is right, knowing the form of the sentence and nothing else of the document:
    the number of what a pronoun stands for, and the noun; one of the values of a relation; letters, and the end of a
    copy; the city of a land; the result of a sum."""
    values = len(next(iter(words.RELATIONS.values())))
    stops = Fraction(2, s.letters + 3)  # a copy has (letters + 1) / 2 letters on average, and one end
    letters = [(1 - stops) / len(words.LETTERS)] * len(words.LETTERS)
    plurals = exact(s.plurals)
    number = Line.by_frequency([1 - plurals, plurals])
    chances = {
        "agreement": number if s.reference else None,
        "nesting": number if s.nesting and s.lexicon == 1 else None,  # else every verb is a choice
        "reference": _reference(s) if s.reference else None,
        "recall": Line.among(values) if s.recall else None,
        "copying": Line.by_frequency([stops, *letters]) if s.copying else None,
        "facts": Line.by_frequency(zipf(s.lands, s.zipf)) if s.facts else None,
        "arithmetic": Line.by_frequency(_results(s.largest)) if s.arithmetic else None,
    }
    best = Line(1.0, 0.0)
    return {skill: {"chance": chance, "best": best} for skill, chance in chances.items() if chance}


def _reference(s: Settings) -> Line:
    """It or they, where both nouns have one number; the noun that is said again, either of the two as often; of lists
    of one word also the quality, where the pronoun fits one noun only."""
    plurals = exact(s.plurals)
    same = plurals**2 + (1 - plurals) ** 2
    pronoun = Line.by_frequency([(1 - plurals) ** 2 / same, plurals**2 / same])
    noun = Line.by_frequency([share * n for share in _nouns(s) for n in (1 - plurals, plurals)])
    again = Fraction(str(CONSEQUENCE))
    found = pronoun.mixed(noun, float(again / (same + again)))
    if s.lexicon > 1:
        return found
    return found.mixed(Line.among(2), float((1 - same) / (1 + again)))


def _nouns(s: Settings) -> list[Fraction]:
    """How often each noun is what a pronoun stands for, over all topics."""
    halves = [
        [noun_shares(s, nouns, topic) for topic in range(len(words.TOPICS))]
        for nouns in (words.CREATURES, words.THINGS)
    ]
    return [sum((one[noun] for one in half), Fraction(0)) / (2 * len(half)) for half in halves for noun in half[0]]


def _results(largest: int) -> list[Fraction]:
    """How often each result of a sum comes."""
    shares = [Fraction(0)] * (2 * largest + 1)
    for first in range(largest + 1):
        for second in range(largest + 1):
            shares[first + second] += Fraction(1, 2 * (largest + 1) ** 2)
        for second in range(first + 1):
            shares[first - second] += Fraction(1, 2 * (largest + 1) * (first + 1))
    return shares
