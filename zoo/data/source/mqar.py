"""Multi-query associative recall."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from zoo.data.diagnostic import ANSWER, FREE, Diagnostic, evenly
from zoo.data.diagnostic.alphabet import capitals, letters, numbers
from zoo.data.diagnostic.draw import Draw
from zoo.data.diagnostic.interleave import interleave, next_of_both
from zoo.data.diagnostic.page import Page, one_after_another
from zoo.data.generated import END, Line
from zoo.data.source import sources
from zoo.errors import UserError


@sources.register("mqar")
@dataclass(kw_only=True)
class Mqar(Diagnostic):
    """`c 7 a 2 f 0 B a 2 D c 7`: `pairs` of a key (a letter) and a value (a number), no key and no value twice; then
    `queries` of them are asked in random order, with `fillers` (capitals) between them, and each key is followed by its
    value. Chance is one of the values of the document.

    paper: Arora et al. 2023, arXiv:2312.04927 (Zoology), section 3
    differs: every order of queries and fillers is as likely; there, queries come early with a power law.
    """

    pairs: int = 8
    queries: int = 8
    fillers: int = 8
    keys: int = 64
    values: int = 64
    noise: int = 16

    def alphabet(self) -> Sequence[bytes]:
        self.at_least(1, pairs=self.pairs, queries=self.queries, noise=self.noise)
        self.at_least(0, fillers=self.fillers)
        if self.queries > self.pairs or self.pairs > min(self.keys, self.values):
            raise UserError(
                f"data.queries={self.queries}, data.pairs={self.pairs}, data.keys={self.keys},"
                f" data.values={self.values}: no more queries than pairs, no more pairs than keys or values"
            )
        self.key = range(1, 1 + self.keys)
        self.value = range(self.key.stop, self.key.stop + self.values)
        self.filler = range(self.value.stop, self.value.stop + self.noise)
        return [*letters(self.keys), *numbers(self.values), *capitals(self.noise)]

    def write(self, page: Page, draw: Draw, split: str) -> None:
        keys = draw.distinct(self.keys, self.pairs) + self.key.start
        values = draw.distinct(self.values, self.pairs) + self.value.start
        left = np.arange(self.pairs)
        floor = one_after_another(np.log(self.keys - left)[None], np.log(self.values - left)[None])
        page.put(one_after_another(keys, values), floor=floor, skill=FREE)
        asked = draw.distinct(self.pairs, self.queries)
        query, number, floor = interleave(draw, self.queries, self.fillers)
        pair = np.take_along_axis(asked, np.minimum(number, self.queries - 1), axis=1)
        fillers = draw.below(self.noise, query.shape[1]) + self.filler.start
        first = np.where(query, np.take_along_axis(keys, pair, axis=1), fillers)
        choices = np.where(query, self.pairs - number, self.noise)
        second = np.take_along_axis(values, pair, axis=1)
        there = one_after_another(np.ones_like(query), query)
        page.put(
            one_after_another(first, second),
            floor=one_after_another(floor + np.log(choices), np.zeros_like(floor)),
            skill=np.tile([FREE, ANSWER], query.shape[1]),
            since=one_after_another(np.full_like(pair, -1), 2 * pair + 1),
            there=there,
        )

    def next(self, before: Sequence[int], split: str) -> Mapping[int, Fraction]:
        bound, rest = before[: 2 * self.pairs], before[2 * self.pairs :]
        if len(bound) < 2 * self.pairs:
            return evenly([w for w in (self.value if len(bound) % 2 else self.key) if w not in bound])
        if rest and rest[-1] in self.key:
            return {bound[list(bound).index(rest[-1]) + 1]: Fraction(1)}
        open_keys = [key for key in bound[::2] if key not in rest]
        queries = self.queries - (self.pairs - len(open_keys))
        fillers = self.fillers - sum(word in self.filler for word in rest)
        return next_of_both(open_keys, queries, self.filler, fillers) or {END: Fraction(1)}

    def candidates(self, before: Sequence[int]) -> Sequence[int]:
        return before[1 : 2 * self.pairs : 2]

    @property
    def chance(self) -> Line:
        return Line.among(self.pairs)
