"""Whether ones are odd in number."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from zoo.data.diagnostic import ANSWER, FREE, Diagnostic, counted, evenly
from zoo.data.diagnostic.alphabet import numbers
from zoo.data.diagnostic.draw import Draw
from zoo.data.diagnostic.page import Page
from zoo.data.generated import END, Line
from zoo.data.source import sources

EQUALS, ZERO, ONE = 1, 2, 3


@sources.register("parity")
@dataclass(kw_only=True)
class Parity(Diagnostic):
    """` 0 1 1 1= 1`: random bits, then their sum modulo 2. Train and validation have `bits`, test has `test_bits`.
    Chance is one of two.

    paper: Hahn 2020, arXiv:1906.06755 (why attention finds it hard)
    differs: nothing.
    """

    bits: tuple[int, int] = (2, 10)
    test_bits: tuple[int, int] = (11, 24)

    def alphabet(self) -> Sequence[bytes]:
        counted.check_range("bits", self.bits)
        counted.check_range("test_bits", self.test_bits)
        return [b"=", *numbers(2)]

    def write(self, page: Page, draw: Draw, split: str) -> None:
        within = self._range(split)
        count, place = draw.between(*within, 1), np.arange(within[1])
        bit, there = draw.below(2, within[1]), place < count
        go_on, stop = counted.nats(within, place)[0], counted.nats(within, count)[1]
        page.put(bit + ZERO, floor=go_on + math.log(2), skill=FREE, there=there)
        page.put(EQUALS, floor=stop)
        page.put((bit * there).sum(1, keepdims=True) % 2 + ZERO, skill=ANSWER)

    def next(self, before: Sequence[int], split: str) -> Mapping[int, Fraction]:
        if EQUALS not in before:
            more = counted.one_more(self._range(split), len(before))
            return (evenly([ZERO, ONE], more) if more else {}) | ({EQUALS: 1 - more} if more < 1 else {})
        return {END if before[-1] != EQUALS else ZERO + list(before).count(ONE) % 2: Fraction(1)}

    def candidates(self, before: Sequence[int]) -> Sequence[int]:
        return [ZERO, ONE]

    @property
    def chance(self) -> Line:
        return Line.among(2)

    def _range(self, split: str) -> tuple[int, int]:
        return self.test_bits if split == "test" else self.bits
