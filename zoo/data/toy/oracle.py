"""The source itself, in plain Python: what may come next after any beginning of a document, and how likely each is.

It shares the grammar with the generator, but none of its arrays, draws or memory: tests check one by the other.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from zoo.data.toy.document import FIRST, LAST, situations
from zoo.data.toy.grammar import UNIT, Choice
from zoo.data.toy.reader import Reader
from zoo.data.toy.settings import Settings
from zoo.data.toy.skills import Skill
from zoo.data.toy.tables import row_weights


@dataclass(frozen=True)
class Next:
    """One possible next word; "" is the end of the document."""

    probability: Fraction
    skill: Skill
    distance: int

    @property
    def nats(self) -> float:
        """−log p."""
        return math.log(UNIT) - math.log(self.probability * UNIT)


class Oracle:
    """Reads a document word by word. `next()` is the exact distribution of the next word; `read(word)` goes on."""

    def __init__(self, settings: Settings):
        self.settings = settings
        self.language = {
            name: (one.by, [[pair for pair in zip(row, row_weights(row), strict=True) if pair[1]] for row in one.rows])
            for name, one in situations(settings).items()
        }
        self.restart()

    def restart(self) -> None:
        """Before the first word of a document."""
        self.situation = FIRST
        self.reader = Reader(self.settings.shortest)

    @property
    def ended(self) -> bool:
        """Whether the document is over."""
        return self.situation == LAST

    def next(self) -> dict[str, Next]:
        """Every word that may come next. The probabilities sum to exactly 1."""
        return {self.reader.word(one.word): self._next(one, weight) for one, weight in self._choices()}

    def read(self, word: str) -> Next:
        """Go on by that word. Raises ValueError for one that cannot come."""
        for one, weight in self._choices():
            if self.reader.word(one.word) == word:
                found = self._next(one, weight)
                self.reader.read(one)
                self.situation = one.goto
                return found
        raise ValueError(f"'{word}' cannot come at place {self.reader.time}; it may be {', '.join(self.next())}")

    def score(self, document: Iterable[str]) -> list[Next]:
        """What was known about each word of a whole document."""
        self.restart()
        return [self.read(word) for word in document]

    def _choices(self) -> list[tuple[Choice, int]]:
        if self.ended:
            return []
        by, rows = self.language[self.situation]
        return rows[self.reader.row(by)]

    def _next(self, one: Choice, weight: int) -> Next:
        distance = 0 if one.since is None else self.reader.time - self.reader.place(one.since)
        return Next(Fraction(weight, UNIT), one.skill, distance)
