"""Associative recall of strings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from zoo.data.diagnostic import ANSWER, FORM, FREE, Diagnostic, counted, evenly
from zoo.data.diagnostic.alphabet import letters, numbers
from zoo.data.diagnostic.draw import Draw
from zoo.data.diagnostic.page import Page
from zoo.data.generated import END, Line
from zoo.data.source import sources

COLON, COMMA = 1, 2


@sources.register("fuzzy_recall")
@dataclass(kw_only=True)
class FuzzyRecall(Diagnostic):
    """`a c: 3 1, b: 2, a c: 3 1,`: keys and values of 1 to `width` letters or digits, each length as likely. A key that
    comes again has the value that it had, and the value ends where it ended. Chance is one of the digits, or the end
    where a value may end.

    paper: Poli et al. 2024, arXiv:2403.17844 (MAD), section 3.1
    differs: marks end keys and values, so that what must be known is never a question of where a key ends.
    """

    pairs: int = 16
    width: int = 2
    letters: int = 4
    digits: int = 10

    def alphabet(self) -> Sequence[bytes]:
        self.at_least(2, pairs=self.pairs)
        self.at_least(1, width=self.width, letters=self.letters, digits=self.digits)
        self.letter = range(3, 3 + self.letters)
        self.digit = range(self.letter.stop, self.letter.stop + self.digits)
        return [b":", b",", *letters(self.letters), *numbers(self.digits)]

    def write(self, page: Page, draw: Draw, split: str) -> None:
        shape, range_ = (self.pairs, self.width), (1, self.width)
        key, key_length = draw.below(self.letters, *shape), draw.between(1, self.width, self.pairs)
        value, value_length = draw.below(self.digits, *shape), draw.between(1, self.width, self.pairs)
        place = np.arange(self.width)
        in_key = place < key_length[..., None]
        code = ((key + 1) * in_key * (self.letters + 1) ** place).sum(2)
        same = code[:, :, None] == code[:, None, :]
        first = np.argmax(same, axis=2)  # the pair in which this key came first
        last = self.pairs - 1 - np.argmax(np.tril(same, -1)[:, :, ::-1], axis=2)
        known = first < np.arange(self.pairs)
        value = np.take_along_axis(value, first[..., None], axis=1)
        value_length = np.take_along_axis(value_length, first, axis=1)
        in_value = place < value_length[..., None]
        go_on = counted.nats(range_, place)[0]
        key_ends, value_ends = (counted.nats(range_, length)[1] for length in (key_length, value_length))
        width = key_length + value_length + 2
        value_at = np.cumsum(width, axis=1) - value_length - 1
        since = np.where(known, np.take_along_axis(value_at, last, axis=1), -1)
        asked = np.where(known, ANSWER, FREE)
        for i in range(self.pairs):
            page.put(key[:, i] + self.letter.start, floor=go_on + np.log(self.letters), skill=FREE, there=in_key[:, i])
            page.put(COLON, floor=key_ends[:, i, None])
            free = ~known[:, i, None]
            page.put(
                value[:, i] + self.digit.start,
                floor=free * (go_on + np.log(self.digits)),
                skill=asked[:, i, None],
                since=np.where(free, -1, since[:, i, None] + place),
                there=in_value[:, i],
            )
            early = known[:, i] & (value_length[:, i] < self.width)  # at full width the end is a matter of form
            page.put(
                COMMA,
                floor=(free[:, 0] * value_ends[:, i])[:, None],
                skill=np.where(early, ANSWER, FORM)[:, None],
                since=np.where(early, since[:, i] + value_length[:, i], -1)[:, None],
            )

    def next(self, before: Sequence[int], split: str) -> Mapping[int, Fraction]:
        text = list(before)
        starts = [0, *(i + 1 for i, word in enumerate(text) if word == COMMA)]
        pair = text[starts[-1] :]
        if COLON not in pair:
            if len(starts) > self.pairs:
                return {END: Fraction(1)}
            return self._more(self.letter, len(pair), COLON)
        key, value = pair[: pair.index(COLON)], pair[pair.index(COLON) + 1 :]
        for a, b in pairwise(starts):
            earlier = text[a:b]
            if earlier[: earlier.index(COLON)] == key:
                return {earlier[len(key) + 1 + len(value)]: Fraction(1)}
        return self._more(self.digit, len(value), COMMA)

    def _more(self, words: Sequence[int], so_far: int, end: int) -> dict[int, Fraction]:
        more = counted.one_more((1, self.width), so_far)
        return (evenly(words, more) if more else {}) | ({end: 1 - more} if more < 1 else {})

    def candidates(self, before: Sequence[int]) -> Sequence[int]:
        return self.digit if before[-1] == COLON else [*self.digit, COMMA]

    @property
    def chance(self) -> Line:
        """A value of n parts asks n of them, and its end if n < `width`; all but the first could have been the end."""
        first, other = Line.among(self.digits), Line.among(self.digits + 1)
        others = sum(n - 1 + (n < self.width) for n in range(1, self.width + 1)) / self.width
        return first.mixed(other, others / (1 + others))
