"""What in-context recall and noisy recall share: keys with values that come again."""

import math
from abc import abstractmethod
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
from zoo.errors import UserError


@dataclass(kw_only=True)
class Recalling(Diagnostic):
    """`pairs` of a key and its value; each key is drawn anew from `keys` and has one value in a document, which no
    other key has. The answers are the values of keys that were there before."""

    pairs: int = 24
    keys: int = 12
    values: int = 32

    @property
    @abstractmethod
    def noises(self) -> tuple[int, int]:
        """How many words of noise a document has, and of how many kinds."""

    def alphabet(self) -> Sequence[bytes]:
        self.at_least(2, pairs=self.pairs)
        self.at_least(1, keys=self.keys)
        if self.keys > self.values:
            raise UserError(f"data.keys={self.keys} must not be above data.values={self.values}: no two keys share one")
        self.key = range(1, 1 + self.keys)
        self.value = range(self.key.stop, self.key.stop + self.values)
        self.filler = range(self.value.stop, self.value.stop + self.noises[1])
        return [*letters(self.keys), *numbers(self.values), *capitals(self.noises[1])]

    def write(self, page: Page, draw: Draw, split: str) -> None:
        key = draw.below(self.keys, self.pairs)
        value = np.take_along_axis(draw.distinct(self.values, self.keys), key, axis=1)
        same = np.tril(key[:, :, None] == key[:, None, :], -1)
        last = np.where(same.any(2), self.pairs - 1 - np.argmax(same[:, :, ::-1], axis=2), -1)
        known = last >= 0
        so_far: np.ndarray = np.cumsum(~known, axis=1) - ~known  # keys that were there before
        thing, number, floor = interleave(draw, self.pairs, self.noises[0])
        pair = np.minimum(number, self.pairs - 1)

        def of(one: np.ndarray) -> np.ndarray:
            return np.take_along_axis(one, pair, axis=1)

        noise = draw.below(max(1, self.noises[1]), thing.shape[1]) + self.filler.start
        value_at = (np.cumsum(1 + thing, axis=1) - 1)[thing].reshape(len(draw), self.pairs)
        since = np.where(known, np.take_along_axis(value_at, np.maximum(last, 0), axis=1), -1)
        page.put(
            one_after_another(np.where(thing, of(key) + self.key.start, noise), of(value) + self.value.start),
            floor=one_after_another(
                floor + np.log(np.where(thing, self.keys, self.noises[1] or 1)),
                of(np.where(known, 0.0, np.log(self.values - so_far))),
            ),
            skill=one_after_another(np.full_like(pair, FREE), of(np.where(known, ANSWER, FREE))),
            since=one_after_another(np.full_like(pair, -1), of(since)),
            there=one_after_another(np.ones_like(thing), thing),
        )

    def next(self, before: Sequence[int], split: str) -> Mapping[int, Fraction]:
        if before and before[-1] in self.key:
            earlier = list(before[:-1])
            if before[-1] in earlier:
                return {before[earlier.index(before[-1]) + 1]: Fraction(1)}
            return evenly([value for value in self.value if value not in before])
        pairs = self.pairs - sum(word in self.key for word in before)
        noise = self.noises[0] - sum(word in self.filler for word in before)
        return next_of_both(self.key, pairs, self.filler, noise) or {END: Fraction(1)}

    def candidates(self, before: Sequence[int]) -> Sequence[int]:
        return sorted({word for word in before if word in self.value})

    @property
    def chance(self) -> Line:
        """One of the values so far. met[m] is the probability that m keys were met, pair after pair."""
        met = [1.0] + [0.0] * self.keys
        answers = right = nats = 0.0
        for _ in range(self.pairs):
            again = [p * m / self.keys for m, p in enumerate(met)]
            answers += sum(again)
            right += sum(p / m for m, p in enumerate(again) if m)
            nats += sum(p * math.log(m) for m, p in enumerate(again) if m)
            met = [again[m] + (met[m - 1] * (self.keys - m + 1) / self.keys if m else 0.0) for m in range(len(met))]
        return Line(right / answers, nats / answers)
