"""Diagnostic tasks: generated corpora of short examples, each of which asks for one ability and nothing else."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from jaxtyping import UInt64

from zoo.data.diagnostic.draw import Draw
from zoo.data.diagnostic.page import Page
from zoo.data.generated import Documents, Generated, Line, check_sizes
from zoo.data.permutation import mix
from zoo.data.split import SPLITS
from zoo.errors import UserError

VERSION = 1
"""Goes up with every change of what a task makes: another version is another corpus."""
AT_ONCE = 1 << 16
"""About how many words are made at a time; which ones does not depend on it."""
FORM, FREE, ANSWER = range(3)


@dataclass(kw_only=True)
class Diagnostic(Generated):
    """Contract: a document is one example. `write` makes many at once; `next` says the same of one, word by word, in
    plain Python; the laws (tests/laws/test_diagnostics.py) hold each against the other for every task.

    Skills: *form* (marks, and when they come), *free* (random words, which only chance can hit), *answer* (what is
    asked for). All that can be learned is in the answers; the floor of the rest is known, so that nats above the floor
    are those of the answers once the form is learned."""

    tokens: tuple[int, int, int] = (1_000_000, 50_000, 50_000)
    seed: int = 0

    skills: ClassVar[tuple[str, ...]] = ("form", "free", "answer")
    line_end_rule: ClassVar[str] = "there are none"
    rows: ClassVar[str] = "whole"

    def __post_init__(self) -> None:
        if not 0 <= self.seed < 1 << 63:
            raise UserError(f"data.seed={self.seed} must be at least 0 and below 2^63")
        self.split = check_sizes(self.tokens)
        self.surfaces = [b"", *self.alphabet()]

    @abstractmethod
    def alphabet(self) -> Sequence[bytes]:
        """How the words 1, 2, … are written. Raises UserError for settings that make no task."""

    @abstractmethod
    def write(self, page: Page, draw: Draw, split: str) -> None:
        """Put the words of the documents of `draw` on the page, without the end mark."""

    @abstractmethod
    def next(self, before: Sequence[int], split: str) -> Mapping[int, Fraction]:
        """What may come after the beginning of a document, `END` included, and how likely each word is."""

    @abstractmethod
    def candidates(self, before: Sequence[int]) -> Sequence[int]:
        """The answers among which one guesses who knows the form, but not what this answer depends on."""

    @property
    @abstractmethod
    def chance(self) -> Line:
        """What guessing evenly among the candidates scores on the determined answers."""

    @property
    def best(self) -> Line:
        """What the source itself scores there: all right, unless the task says otherwise."""
        return Line(1.0, 0.0)

    def lines(self) -> dict[str, dict[str, Line]]:
        return {"answer": {"chance": self.chance, "best": self.best}}

    def made(self, split: str, words: int | None = None) -> Iterator[Documents]:
        size = self.tokens[SPLITS.index(split)]
        left, start, typical = size if words is None else min(size, words), 0, 16
        while left > 0:
            count = max(8, min(AT_ONCE, left) // typical)
            made = self.some(split, start, count)
            typical = max(1, len(made.words) // count)
            enough = int(np.searchsorted(made.offsets, left))
            yield made.part(0, min(enough, count))
            start, left = start + count, left - int(made.offsets[-1])

    def some(self, split: str, start: int, count: int) -> Documents:
        """Documents `start` to `start` + `count` − 1 of a split."""
        page = Page(count)
        self.write(page, Draw(self._keys(split, np.arange(start, start + count))), split)
        return page.documents()

    def identity(self) -> dict[str, Any]:
        settings = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "tokens"}
        return {"made_by": type(self).__name__, "version": VERSION, **settings}

    def _keys(self, split: str, numbers: np.ndarray) -> UInt64[np.ndarray, "D"]:
        """The start of each document's own stream of random numbers."""
        key = np.zeros(len(numbers), dtype=np.uint64)
        for part in (VERSION, self.seed, SPLITS.index(split)):
            key = mix(key ^ np.uint64(part))
        return mix(key ^ mix(numbers.astype(np.uint64)))

    def at_least(self, low: int, **values: int) -> None:
        """Raises UserError for the first value below `low`."""
        for key, value in values.items():
            if value < low:
                raise UserError(f"data.{key}={value} must be at least {low}")


def evenly(words: Sequence[int], share: Fraction = Fraction(1)) -> dict[int, Fraction]:
    """Each of these words is as likely as the others."""
    return {word: share / len(words) for word in words}
