"""The form of the language: situations, each with rows of words that may come next.

A sentence is made word by word. There is no choice but that of the next word, no row has a word twice, and the word
alone decides what happens next. So a text can come about in one way only, and the probability of each word is known.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from enum import IntEnum, auto
from fractions import Fraction
from math import lcm

from zoo.data.toy.skills import Skill

UNIT = 1 << 32
"""All probabilities are whole numbers of 1/UNIT: sums are exact, and the same on every machine."""


class Slot(IntEnum):
    """A number that is remembered about a document."""

    ALWAYS = 0  # 0, for situations with one row
    TOPIC = auto()
    OPENING = auto()  # 2 · people met + whether the document may end here
    LEVEL = auto()  # 2 · (depth − 1) + number of the innermost subject that waits for its verb
    HEAD_AT = auto()  # and where that subject stands
    SUBJECT = auto()  # the outermost subject, its number and place
    SUBJECT_NUMBER = auto()
    SUBJECT_AT = auto()
    OBJECT = auto()
    OBJECT_NUMBER = auto()
    OBJECT_AT = auto()
    PAIR = auto()  # 2 · number of the subject + number of the object
    FITTING = auto()  # what a pronoun may stand for: 0 both, 1 the subject, 2 the object
    REFERENT = auto()  # what it does stand for
    REFERENT_NUMBER = auto()
    REFERENT_AT = auto()
    MARK = auto()  # where the last pronoun, land, or first number stands
    PERSON = auto()
    QUESTION = auto()  # relation, + 3 when the answer is known
    ANSWER = auto()
    ANSWER_AT = auto()
    SPELLED = auto()  # letters so far
    SPELLED_AT = auto()  # where the first one stands
    COPIED = auto()
    LETTER = auto()  # the next one to copy
    LETTER_AT = auto()
    LEFT = auto()  # whether there is one
    LAND = auto()
    ADDEND = auto()
    RESULT = auto()


class Act(IntEnum):
    """What a word changes in what is remembered; see `memory.py`."""

    NOTHING = 0
    TOPIC = auto()
    CLOSE = auto()
    PUSH = auto()
    POP = auto()
    OBJECT = auto()
    PRONOUN = auto()
    REFER = auto()
    MARK = auto()
    MEET = auto()
    KNOWN = auto()
    ASK = auto()
    BIND = auto()
    SPELL = auto()
    REWIND = auto()
    COPY = auto()
    LAND = auto()
    FIRST = auto()
    ADD = auto()
    SUBTRACT = auto()


@dataclass(frozen=True)
class Choice:
    """One word that may come next: a word, or the slot (or the name of person j: −1 − j) whose word comes."""

    word: "str | Slot | int"
    goto: str
    skill: Skill = Skill.GRAMMAR
    since: Slot | None = None
    """Where the word that this one depends on stands."""
    act: Act = Act.NOTHING
    argument: int = 0
    share: Fraction = Fraction(1)

    def times(self, factor: Fraction) -> "Choice":
        """The same choice, less likely."""
        return replace(self, share=self.share * factor)


Row = tuple[Choice, ...]


@dataclass(frozen=True)
class Situation:
    """Rows of choices; the slot `by` says which of them."""

    rows: tuple[Row, ...]
    by: Slot = Slot.ALWAYS


Situations = dict[str, Situation]


def only(word: "str | Slot", goto: str, **more: object) -> Situation:
    """A situation in which one word must come."""
    return Situation(((Choice(word, goto, **more),),))  # type: ignore[arg-type]


def mix(*parts: tuple[int | float | Fraction, Iterable[Choice]]) -> Row:
    """One row of several lists, each with its share of the probability; a list of share 0 is left out. Shares of a
    list are taken relative to their sum."""
    row: list[Choice] = []
    for share, choices in parts:
        listed = list(choices)
        total = sum((one.share for one in listed), Fraction(0))
        exact = Fraction(str(share)) if isinstance(share, float) else Fraction(share)
        assert exact >= 0, share  # `Settings.check` refuses what sums to more than all
        if exact and total:
            row += [one.times(exact / total) for one in listed]
    return tuple(row)


def zipf(count: int, exponent: float) -> list[Fraction]:
    """The shares of `count` words, of which the r-th has 1/r^exponent times that of the first."""
    with localcontext(prec=28):  # Decimal, since powers of floats differ between machines
        power = -Decimal(str(exponent))
        scaled = [int(Decimal(10**9) * Decimal(rank) ** power) for rank in range(1, count + 1)]
    return [Fraction(one, sum(scaled)) for one in scaled]


def weights(shares: Sequence[Fraction]) -> list[int]:
    """Whole numbers in proportion to the shares that sum to UNIT: rounded down, the rest to the largest remainders."""
    scale = lcm(*(share.denominator for share in shares))
    parts = [share.numerator * (scale // share.denominator) for share in shares]
    total = sum(parts)
    floors = [part * UNIT // total for part in parts]
    order = sorted(range(len(parts)), key=lambda i: (-(parts[i] * UNIT % total), i))
    for i in order[: UNIT - sum(floors)]:
        floors[i] += 1
    return floors
