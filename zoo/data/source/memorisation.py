"""A table that must be kept in the weights."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from zoo.data.diagnostic import ANSWER, FREE, VERSION, Diagnostic, evenly
from zoo.data.diagnostic.alphabet import letters, numbers
from zoo.data.diagnostic.draw import Draw
from zoo.data.diagnostic.page import Page, one_after_another
from zoo.data.generated import END, Line
from zoo.data.permutation import mix
from zoo.data.source import sources
from zoo.errors import UserError


@sources.register("memorisation")
@dataclass(kw_only=True)
class Memorisation(Diagnostic):
    """`k 3 c 7 x 3`: `pairs` of different keys, each with the value that it has in every document, of every split. The
    table is drawn from the seed of the documents. Chance is one of all values.

    paper: Poli et al. 2024, arXiv:2403.17844 (MAD), section 3.1
    differs: values are read after they were asked; no key comes twice in a document, so none can be looked up.
    """

    pairs: int = 16
    keys: int = 256
    values: int = 64

    def alphabet(self) -> Sequence[bytes]:
        self.at_least(1, pairs=self.pairs, values=self.values)
        if self.pairs > self.keys:
            raise UserError(f"data.pairs={self.pairs} must not be above data.keys={self.keys}: no key comes twice")
        key = mix(np.full(self.keys, self.seed ^ (VERSION << 63), np.uint64))
        drawn = mix(key + np.arange(self.keys, dtype=np.uint64))
        self.table = (drawn % np.uint64(self.values)).astype(np.int64) + 1 + self.keys
        return [*letters(self.keys), *numbers(self.values)]

    def write(self, page: Page, draw: Draw, split: str) -> None:
        key = draw.distinct(self.keys, self.pairs)
        floor = np.log(self.keys - np.arange(self.pairs))[None]
        page.put(
            one_after_another(key + 1, self.table[key]),
            floor=one_after_another(floor, np.zeros_like(floor)),
            skill=np.tile([FREE, ANSWER], self.pairs),
        )

    def next(self, before: Sequence[int], split: str) -> Mapping[int, Fraction]:
        if len(before) % 2:
            return {int(self.table[before[-1] - 1]): Fraction(1)}
        if len(before) == 2 * self.pairs:
            return {END: Fraction(1)}
        return evenly([key for key in range(1, 1 + self.keys) if key not in before[::2]])

    def candidates(self, before: Sequence[int]) -> Sequence[int]:
        return range(1 + self.keys, 1 + self.keys + self.values)

    @property
    def chance(self) -> Line:
        return Line.among(self.values)
