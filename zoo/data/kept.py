"""Which pairs of a split fit, found by number, without a list of them."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Int64

from zoo.data.sorting import AT_ONCE

BLOCK = 256
"""So many pairs are looked at to find one; how many fit is remembered once for each block."""


class Kept:
    """The pairs of at most `limit` tokens. `offsets` are those of a split of pairs, see `zoo.data.building.store`."""

    def __init__(self, offsets: Int64[np.ndarray, "N1"], limit: int):
        self._borders, self._limit = offsets[::2], limit
        self.pairs = len(self._borders) - 1
        self.tokens = self.longest = 0
        self.shortest = int(offsets[-1])
        counts = [np.zeros(1, dtype=np.int64)]
        for lengths in self._lengths():
            fits = lengths <= limit
            counts.append(np.add.reduceat(fits.astype(np.int64), np.arange(0, len(fits), BLOCK)))
            self.tokens += int(lengths[fits].sum())
            self.shortest = min(self.shortest, int(lengths.min()))
            self.longest = max(self.longest, int(lengths.max()))
        self._before = np.cumsum(np.concatenate(counts))

    def __len__(self) -> int:
        return int(self._before[-1])

    @property
    def dropped(self) -> int:
        """How many pairs do not fit."""
        return self.pairs - len(self)

    def at(self, numbers: Int64[np.ndarray, "B"]) -> Int64[np.ndarray, "B"]:
        """Which pairs of the split those of the kept ones are."""
        block = np.searchsorted(self._before, numbers, side="right") - 1
        blocks, which = np.unique(block, return_inverse=True)
        places = blocks[:, None] * BLOCK + np.arange(BLOCK + 1)
        lengths = np.diff(self._borders[np.minimum(places, self.pairs)], axis=1)
        fits = (lengths <= self._limit) & (places[:, :-1] < self.pairs)
        counts = fits.sum(axis=1)
        first = np.cumsum(counts) - counts
        fitting: np.ndarray = places[:, :-1][fits]
        return fitting[first[which] + numbers - self._before[block]]

    def _lengths(self) -> Iterator[np.ndarray]:
        """How many tokens each pair has, whole blocks at a time."""
        for start in range(0, self.pairs, AT_ONCE):
            yield np.diff(self._borders[start : start + AT_ONCE + 1])
