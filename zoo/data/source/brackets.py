"""Brackets that must match."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from zoo.data.diagnostic import ANSWER, FREE, Diagnostic
from zoo.data.diagnostic.draw import Draw
from zoo.data.diagnostic.page import Page
from zoo.data.generated import END, Line
from zoo.data.source import sources
from zoo.errors import UserError

BAR = 1
PAIRS = (b"()", b"[]", b"{}", b"<>")


@sources.register("brackets")
@dataclass(kw_only=True)
class Brackets(Diagnostic):
    """`([]{|})`: `steps` brackets of `kinds` kinds, at most `depth` of them open; after the bar those that are left
    open are closed. Where both may come, opening and closing are as likely; then a closing bracket is determined but
    for that one bit. Chance is one of the kinds.

    paper: Hewitt et al. 2020, arXiv:2010.07515 (Dyck languages of bounded depth)
    differs: of fixed length, and what is open is closed after a bar.
    """

    kinds: int = 4
    depth: int = 5
    steps: int = 24

    def alphabet(self) -> Sequence[bytes]:
        self.at_least(1, depth=self.depth, steps=self.steps)
        if not 1 <= self.kinds <= len(PAIRS):
            raise UserError(f"data.kinds={self.kinds} must be between 1 and {len(PAIRS)}")
        self.opening = range(2, 2 + self.kinds)
        self.closing = range(self.opening.stop, self.opening.stop + self.kinds)
        pairs = PAIRS[: self.kinds]
        return [b"|", *(one[:1] for one in pairs), *(one[1:] for one in pairs)]

    def write(self, page: Page, draw: Draw, split: str) -> None:
        rows = np.arange(len(draw))
        kind, place = (np.zeros((len(draw), self.depth + 1), dtype=np.int64) for _ in range(2))
        height = np.zeros(len(draw), dtype=np.int64)
        fresh, upward = draw.below(self.kinds, self.steps), draw.below(2, self.steps) == 1
        for step in range(self.steps):
            must = (height == 0) | (height == self.depth)
            opens = np.where(must, height == 0, upward[:, step])
            top = np.where(opens, height, height - 1)
            closed, opened_at = kind[rows, top], place[rows, top]
            kind[rows, top] = np.where(opens, fresh[:, step], closed)
            place[rows, top] = np.where(opens, step, opened_at)
            height = height + np.where(opens, 1, -1)
            page.put(
                np.where(opens, fresh[:, step] + self.opening.start, closed + self.closing.start)[:, None],
                floor=(np.where(must, 0.0, np.log(2)) + opens * np.log(self.kinds))[:, None],
                skill=np.where(opens, FREE, ANSWER)[:, None],
                since=np.where(opens, -1, opened_at)[:, None],
            )
        page.put(BAR)
        for level in reversed(range(self.depth)):
            page.put(
                kind[:, level, None] + self.closing.start,
                skill=ANSWER,
                since=place[:, level, None],
                there=(level < height)[:, None],
            )

    def next(self, before: Sequence[int], split: str) -> Mapping[int, Fraction]:
        still = []
        for word in before:
            if word in self.opening:
                still.append(word + self.kinds)
            elif word in self.closing:
                assert still.pop() == word
        if BAR in before:
            return {still[-1] if still else END: Fraction(1)}
        if len(before) == self.steps:
            return {BAR: Fraction(1)}
        up = Fraction(len(still) < self.depth) / (2 if still and len(still) < self.depth else 1)
        made = dict.fromkeys(self.opening, up / self.kinds) if up else {}
        return made | ({still[-1]: 1 - up} if up < 1 else {})

    def candidates(self, before: Sequence[int]) -> Sequence[int]:
        return self.closing

    @property
    def chance(self) -> Line:
        return Line.among(self.kinds)
