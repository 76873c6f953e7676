"""Spelling: "spell k f q z: k f q z"; the letters are random, their copy is not."""

from fractions import Fraction

from zoo.data.toy import words
from zoo.data.toy.grammar import Act, Choice, Row, Situation, Situations, Slot, mix
from zoo.data.toy.settings import Settings
from zoo.data.toy.skills import Skill


def situations(s: Settings) -> Situations:
    """Strings of 1 to `letters` letters, each length as likely as the others."""
    stop = Choice(".", "opening", Skill.COPYING, Slot.LETTER_AT, Act.CLOSE)
    letter = Choice(Slot.LETTER, "copy", Skill.COPYING, Slot.LETTER_AT, Act.COPY)
    return {
        "spell": Situation(tuple(_spelled(s, so_far) for so_far in range(s.letters + 1)), Slot.SPELLED),
        "copy": Situation(((stop,), (letter,)), Slot.LEFT),
    }


def openings(s: Settings) -> Row:
    """The word that opens such a sentence."""
    return (Choice("spell", "spell"),)


def _spelled(s: Settings, so_far: int) -> Row:
    stop = Fraction(0) if not so_far else Fraction(1, s.letters - so_far + 1)
    letters = [Choice(letter, "spell", Skill.LEXICAL, None, Act.SPELL) for letter in words.LETTERS]
    return mix((stop, [Choice(":", "copy", act=Act.REWIND)]), (1 - stop, letters))
