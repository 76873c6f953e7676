"""Copying what counts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from zoo.data.diagnostic import ANSWER, FREE, Diagnostic
from zoo.data.diagnostic.alphabet import capitals, letters
from zoo.data.diagnostic.draw import Draw
from zoo.data.diagnostic.interleave import interleave, next_of_both
from zoo.data.diagnostic.page import Page
from zoo.data.generated import END, Line
from zoo.data.source import sources

BAR = 1


@sources.register("selective_copying")
@dataclass(kw_only=True)
class SelectiveCopying(Diagnostic):
    """`A f C A k k B| f k k`: `symbols` letters among `fillers` capitals, in any order; then the letters alone.
    Chance is one of all letters.

    paper: Gu & Dao 2023, arXiv:2312.00752 (Mamba), section 4.1.1
    differs: noise of several kinds; the answer is read word by word, the true answer so far before it.
    """

    symbols: int = 8
    fillers: int = 24
    letters: int = 16
    noise: int = 4

    def alphabet(self) -> Sequence[bytes]:
        self.at_least(1, symbols=self.symbols, letters=self.letters, noise=self.noise)
        self.at_least(0, fillers=self.fillers)
        self.letter = range(2, 2 + self.letters)
        self.filler = range(self.letter.stop, self.letter.stop + self.noise)
        return [b"|", *letters(self.letters), *capitals(self.noise)]

    def write(self, page: Page, draw: Draw, split: str) -> None:
        letter, number, floor = interleave(draw, self.symbols, self.fillers)
        shown = draw.below(self.letters, self.symbols) + self.letter.start
        noise = draw.below(self.noise, letter.shape[1]) + self.filler.start
        words = np.where(letter, np.take_along_axis(shown, np.minimum(number, self.symbols - 1), axis=1), noise)
        page.put(words, floor=floor + np.log(np.where(letter, self.letters, self.noise)), skill=FREE)
        page.put(BAR)
        page.put(shown, skill=ANSWER, since=np.nonzero(letter)[1].reshape(shown.shape))

    def next(self, before: Sequence[int], split: str) -> Mapping[int, Fraction]:
        shown = [word for word in before if word in self.letter]
        if BAR in before:
            done = len(before) - list(before).index(BAR) - 1
            return {shown[done] if done < self.symbols else END: Fraction(1)}
        fillers = self.fillers - (len(before) - len(shown))
        return next_of_both(self.letter, self.symbols - len(shown), self.filler, fillers) or {BAR: Fraction(1)}

    def candidates(self, before: Sequence[int]) -> Sequence[int]:
        return self.letter

    @property
    def chance(self) -> Line:
        return Line.among(self.letters)
