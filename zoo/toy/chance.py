"""What guessing scores on the words of the toy language that are determined."""

from fractions import Fraction

from zoo.data.generated import Line
from zoo.toy import words
from zoo.toy.grammar import zipf
from zoo.toy.settings import Settings


def lines(s: Settings) -> dict[str, dict[str, Line]]:
    """Guessing by how often each answer is right, knowing the form of the sentence and nothing else of the document:
    one of the values of a relation; letters, and the end of a copy; the city of a land; the result of a sum."""
    values = len(next(iter(words.RELATIONS.values())))
    stops = Fraction(2, s.letters + 3)  # a copy has (letters + 1) / 2 letters on average, and one end
    letters = [(1 - stops) / len(words.LETTERS)] * len(words.LETTERS)
    chances = {
        "recall": Line.among(values) if s.recall else None,
        "copying": Line.by_frequency([stops, *letters]) if s.copying else None,
        "facts": Line.by_frequency(zipf(s.lands, s.zipf)) if s.facts else None,
        "arithmetic": Line.by_frequency(_results(s.largest)) if s.arithmetic else None,
    }
    best = Line(1.0, 0.0)
    return {skill: {"chance": chance, "best": best} for skill, chance in chances.items() if chance}


def _results(largest: int) -> list[Fraction]:
    """How often each result of a sum comes."""
    shares = [Fraction(0)] * (2 * largest + 1)
    for first in range(largest + 1):
        for second in range(largest + 1):
            shares[first + second] += Fraction(1, 2 * (largest + 1) ** 2)
        for second in range(first + 1):
            shares[first - second] += Fraction(1, 2 * (largest + 1) * (first + 1))
    return shares
