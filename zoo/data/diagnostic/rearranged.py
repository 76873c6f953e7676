"""What copying, reversing and sorting share: letters, a bar, and the same letters in another order."""

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Bool, Int64

from zoo.data.diagnostic import ANSWER, FREE, Diagnostic, counted, evenly
from zoo.data.diagnostic.alphabet import letters
from zoo.data.diagnostic.draw import Draw
from zoo.data.diagnostic.page import Page
from zoo.data.generated import END, Line

BAR = 1


@dataclass(kw_only=True)
class Rearranged(Diagnostic):
    """Train and validation have `lengths`, test has `test_lengths`: every number of letters is as likely."""

    letters: int = 26
    lengths: tuple[int, int] = (4, 16)
    test_lengths: tuple[int, int] = (17, 32)

    @staticmethod
    @abstractmethod
    def order(given: Int64[np.ndarray, "D N"], there: Bool[np.ndarray, "D N"]) -> Int64[np.ndarray, "D N"]:
        """Which letter comes first, second, … in the answer; those that are not there come last."""

    @staticmethod
    @abstractmethod
    def rearranged(given: Sequence[int]) -> Sequence[int]:
        """The answer, in plain Python."""

    def alphabet(self) -> Sequence[bytes]:
        self.at_least(1, letters=self.letters)
        counted.check_range("lengths", self.lengths)
        counted.check_range("test_lengths", self.test_lengths)
        return [b"|", *letters(self.letters)]

    def write(self, page: Page, draw: Draw, split: str) -> None:
        within = self._range(split)
        count = draw.between(*within, 1)
        place = np.arange(within[1])
        there = place < count
        given = draw.below(self.letters, within[1]) + BAR + 1
        go_on, stop = counted.nats(within, place)[0], counted.nats(within, count)[1]
        page.put(given, floor=go_on + math.log(self.letters), skill=FREE, there=there)
        page.put(BAR, floor=stop)
        order = self.order(given, there)
        page.put(np.take_along_axis(given, order, axis=1), skill=ANSWER, since=order, there=there)

    def next(self, before: Sequence[int], split: str) -> Mapping[int, Fraction]:
        if BAR not in before:
            more = counted.one_more(self._range(split), len(before))
            choices = evenly(range(BAR + 1, BAR + 1 + self.letters), more) if more else {}
            return choices | ({BAR: 1 - more} if more < 1 else {})
        given = before[: list(before).index(BAR)]
        done = len(before) - len(given) - 1
        return {self.rearranged(given)[done] if done < len(given) else END: Fraction(1)}

    def candidates(self, before: Sequence[int]) -> Sequence[int]:
        return range(BAR + 1, BAR + 1 + self.letters)

    @property
    def chance(self) -> Line:
        return Line.among(self.letters)

    def _range(self, split: str) -> tuple[int, int]:
        return self.test_lengths if split == "test" else self.lengths
