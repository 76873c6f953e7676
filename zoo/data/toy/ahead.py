"""How many documents to make in one go."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from zoo.data.generated import Documents


@dataclass
class Ahead:
    """Documents that were made before they are asked for: to make some takes as many steps as the longest of them has
    words, however few they are."""

    make: Callable[[int, int, int], Documents]
    """Documents of a split from a number on, so many."""
    typical: float
    """How many words a document has: a guess, until some were made."""
    split: int = -1
    first: int = 0
    made: Documents | None = None

    def get(self, split: int, start: int, count: int, words: int) -> Documents:
        """Documents `start` to `start` + `count` − 1 of a split; with them are made as many as have about so many
        words."""
        if self.made is None or not (split == self.split and self.first <= start <= self._end - count):
            self.made = None  # its memory is needed
            expected = words / self.typical
            enough = int(expected + 3 * math.sqrt(expected))  # lengths scatter no more than their mean
            self.split, self.first, self.made = split, start, self.make(split, start, max(count, enough))
            self.typical = len(self.made.words) / (len(self.made.offsets) - 1)
        return self.made.part(start - self.first, start - self.first + count)

    @property
    def _end(self) -> int:
        """The number after that of the last one made."""
        return self.first + (0 if self.made is None else len(self.made.offsets) - 1)
