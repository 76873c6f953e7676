"""Sums: "7 plus 5 is 12", "9 minus 4 is 5"."""

from zoo.data.toy import words
from zoo.data.toy.grammar import Act, Choice, Row, Situation, Situations, Slot, only
from zoo.data.toy.settings import Settings
from zoo.data.toy.skills import Skill


def situations(s: Settings) -> Situations:
    """From the operator to the result. Every number is as likely as the others; no result is negative."""
    operators = (Choice("plus", "plus", Skill.LEXICAL), Choice("minus", "minus", Skill.LEXICAL))
    results = tuple(
        (Choice(number, "stop", Skill.ARITHMETIC, Slot.MARK),) for number in words.NUMBERS[: 2 * s.largest + 1]
    )
    return {
        "sum": Situation((operators,)),
        "plus": Situation((_numbers(s.largest, "equals", Act.ADD),)),
        "minus": Situation(
            tuple(_numbers(first, "equals", Act.SUBTRACT) for first in range(s.largest + 1)), Slot.ADDEND
        ),
        "equals": only("is", "result"),
        "result": Situation(results, Slot.RESULT),
    }


def openings(s: Settings) -> Row:
    """The first number."""
    return _numbers(s.largest, "sum", Act.FIRST)


def _numbers(largest: int, goto: str, act: Act) -> Row:
    return tuple(Choice(words.NUMBERS[i], goto, Skill.LEXICAL, None, act, i) for i in range(largest + 1))
