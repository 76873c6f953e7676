"""Sums modulo a number."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from zoo.data.diagnostic import ANSWER, FREE, Diagnostic, counted, evenly
from zoo.data.diagnostic.alphabet import numbers
from zoo.data.diagnostic.draw import Draw
from zoo.data.diagnostic.page import Page, one_after_another
from zoo.data.generated import END, Line
from zoo.data.source import sources
from zoo.errors import UserError

EQUALS = 1
SIGNS: dict[bytes, Callable[[Any, Any], Any]] = {
    b"+": lambda a, b: a + b,
    b"-": lambda a, b: a - b,
    b"*": lambda a, b: a * b,
}


@sources.register("modular_arithmetic")
@dataclass(kw_only=True)
class ModularArithmetic(Diagnostic):
    """` 3+ 4- 2= 0` for `modulus` 5: numbers and operators (the first `operators` of + − ·), worked out from left to
    right. Train and validation have `terms` numbers, test has `test_terms`. Chance is one of all numbers.

    paper: Delétang et al. 2022, arXiv:2207.02098 (modular arithmetic at lengths that were not trained)
    differs: · binds no stronger than + and −.
    """

    modulus: int = 5
    operators: int = 2
    terms: tuple[int, int] = (2, 6)
    test_terms: tuple[int, int] = (7, 12)

    def alphabet(self) -> Sequence[bytes]:
        self.at_least(2, modulus=self.modulus)
        if not 1 <= self.operators <= len(SIGNS):
            raise UserError(f"data.operators={self.operators} must be between 1 and {len(SIGNS)}")
        counted.check_range("terms", self.terms)
        counted.check_range("test_terms", self.test_terms)
        self.number = range(2, 2 + self.modulus)
        self.sign = range(self.number.stop, self.number.stop + self.operators)
        return [b"=", *numbers(self.modulus), *list(SIGNS)[: self.operators]]

    def write(self, page: Page, draw: Draw, split: str) -> None:
        within = self._range(split)
        count, place = draw.between(*within, 1), np.arange(within[1])
        number, sign = draw.below(self.modulus, within[1]), draw.below(self.operators, within[1])
        result = number[:, 0]
        for i in range(1, within[1]):
            worked_out = np.choose(sign[:, i - 1], [work(result, number[:, i]) for work in SIGNS.values()])
            result = np.where(i < count[:, 0], worked_out % self.modulus, result)
        last = place == count - 1
        go_on, stop = counted.nats(within, place + 1)
        page.put(
            one_after_another(number + self.number.start, np.where(last, EQUALS, sign + self.sign.start)),
            floor=one_after_another(
                np.full(number.shape, np.log(self.modulus)), np.where(last, stop, go_on + np.log(self.operators))
            ),
            skill=one_after_another(np.full(number.shape, FREE), np.where(last, 0, FREE)),
            there=one_after_another(place < count, place < count),
        )
        page.put(result[:, None] + self.number.start, skill=ANSWER)

    def next(self, before: Sequence[int], split: str) -> Mapping[int, Fraction]:
        if not before or before[-1] in self.sign:
            return evenly(self.number)
        if EQUALS not in before:
            more = counted.one_more(self._range(split), (len(before) + 1) // 2)
            return (evenly(self.sign, more) if more else {}) | ({EQUALS: 1 - more} if more < 1 else {})
        if before[-1] != EQUALS:
            return {END: Fraction(1)}
        result = before[0] - self.number.start
        for sign, number in zip(before[1:-1:2], before[2:-1:2], strict=True):
            result = list(SIGNS.values())[sign - self.sign.start](result, number - self.number.start)
        return {result % self.modulus + self.number.start: Fraction(1)}

    def candidates(self, before: Sequence[int]) -> Sequence[int]:
        return self.number

    @property
    def chance(self) -> Line:
        return Line.among(self.modulus)

    def _range(self, split: str) -> tuple[int, int]:
        return self.test_terms if split == "test" else self.terms
