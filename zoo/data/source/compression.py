"""How well the frequencies of a sequence are learned from the sequence itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb, lgamma

import numpy as np

from zoo.data.diagnostic import ANSWER, Diagnostic
from zoo.data.diagnostic.alphabet import letters
from zoo.data.diagnostic.draw import Draw
from zoo.data.diagnostic.page import Page
from zoo.data.generated import END, Line
from zoo.data.source import sources


@sources.register("compression")
@dataclass(kw_only=True)
class Compression(Diagnostic):
    """`a b a a c a`: `length` letters from Pólya's urn: p(w) = (times that w came + 1) / (words so far + `letters`).
    Each document has its own frequencies (all are as likely), and what can be saved is learned by counting. Nothing
    is determined; chance is one of all letters, best is Laplace's rule.

    paper: Laplace 1774; the ideal code length of adaptive coding, Cover & Thomas 2006, section 13.2
    differs: MAD's task of this name (arXiv:2403.17844) asks an auto-encoder to put a sequence into one hidden state.
    That is a property of a model with such a bottleneck, not of a loss on tokens; this asks for the saving itself.
    """

    length: int = 64
    letters: int = 8

    def alphabet(self) -> Sequence[bytes]:
        self.at_least(1, length=self.length, letters=self.letters)
        return letters(self.letters)

    def write(self, page: Page, draw: Draw, split: str) -> None:
        words = np.empty((len(draw), self.length), dtype=np.int64)
        rows = np.arange(len(draw))
        for i in range(self.length):  # one of the words so far, or any letter
            pick = draw.below(i + self.letters)
            words[:, i] = np.where(pick < i, words[rows, np.minimum(pick, max(i - 1, 0))], pick - i)
            came = (words[:, :i] == words[:, i, None]).sum(1)
            page.put(words[:, i, None] + 1, floor=np.log((i + self.letters) / (came + 1))[:, None], skill=ANSWER)

    def next(self, before: Sequence[int], split: str) -> Mapping[int, Fraction]:
        if len(before) == self.length:
            return {END: Fraction(1)}
        total = len(before) + self.letters
        return {word: Fraction(list(before).count(word) + 1, total) for word in range(1, 1 + self.letters)}

    def candidates(self, before: Sequence[int]) -> Sequence[int]:
        return range(1, 1 + self.letters)

    @property
    def chance(self) -> Line:
        return Line.among(self.letters)

    @property
    def best(self) -> Line:
        """All counts (c₁ … c_V) of n words are equally likely, so both are sums over counts. Nats: those of a
        document, by its length. Accuracy: after i words (largest count + 1) / (i + V) are right."""
        n, v = self.length, self.letters
        spent = sum(_counts(n - c, v - 1) / _counts(n, v) * lgamma(c + 1) for c in range(n + 1)) * v
        nats = (lgamma(n + v) - lgamma(v) - spent) / n
        right = sum((_largest(i, v) + 1) / (i + v) for i in range(n)) / n
        return Line(right, nats)


def _counts(total: int, parts: int) -> int:
    """In how many ways so many words can be counts of so many letters."""
    return comb(total + parts - 1, parts - 1) if parts else int(total == 0)


def _largest(total: int, parts: int) -> float:
    """The mean of the largest count: Σ_m P(largest > m), each by inclusion and exclusion."""
    found = 0.0
    for most in range(total):
        size = most + 1
        below = sum((-1) ** j * comb(parts, j) * _counts(total - j * size, parts) for j in range(total // size + 1))
        found += 1 - below / _counts(total, parts)
    return found
