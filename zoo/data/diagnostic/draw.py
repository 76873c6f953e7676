"""Random numbers for many documents at once."""

from math import prod

import numpy as np
from jaxtyping import Int64, UInt64

from zoo.data.permutation import GOLDEN, mix


class Draw:
    """Each document draws from a stream of its own (splitmix64), so that none depends on those made beside it. Numbers
    below n are 64 random bits modulo n: even to 2⁻⁴⁰ for any n in use."""

    def __init__(self, keys: UInt64[np.ndarray, "D"]):
        self.keys, self.used = keys, 0

    def __len__(self) -> int:
        return len(self.keys)

    def bits(self, *shape: int) -> UInt64[np.ndarray, "D *shape"]:
        """64 random bits each."""
        steps = np.array([step * GOLDEN % (1 << 64) for step in range(self.used, self.used + prod(shape))], np.uint64)
        self.used += prod(shape)
        return mix(self.keys[:, None] + steps).reshape(len(self), *shape)

    def below(self, limit: int, *shape: int) -> Int64[np.ndarray, "D *shape"]:
        """Numbers from 0 to limit − 1."""
        return (self.bits(*shape) % np.uint64(limit)).astype(np.int64)

    def between(self, low: int, high: int, *shape: int) -> Int64[np.ndarray, "D *shape"]:
        """Numbers from low to high."""
        return low + self.below(high - low + 1, *shape)

    def distinct(self, limit: int, count: int) -> Int64[np.ndarray, "D count"]:
        """`count` different numbers from 0 to limit − 1, in random order."""
        return np.argsort(self.bits(limit), axis=1, kind="stable")[:, :count]
