"""The order of an epoch: a keyed permutation that is computed number by number, so that no order is ever stored."""

import numpy as np
from jaxtyping import Int64, UInt64

ROUNDS = 6
GOLDEN = 0x9E3779B97F4A7C15


def epoch_keys(seed: int, epochs: Int64[np.ndarray, "N"]) -> UInt64[np.ndarray, "N"]:
    """A random-looking key for each (seed, epoch)."""
    seeds = np.full(epochs.shape, seed % (1 << 64), dtype=np.uint64)
    return mix(mix(seeds) + epochs.astype(np.uint64))


def draw(keys: UInt64[np.ndarray, "N"], limit: int) -> Int64[np.ndarray, "N"]:
    """A number from 0 to limit − 1 for each key."""
    return (mix(~keys) % np.uint64(limit)).astype(np.int64)


def permute(numbers: Int64[np.ndarray, "N"], size: int, keys: UInt64[np.ndarray, "N"]) -> Int64[np.ndarray, "N"]:
    """Where each number from 0 to size − 1 goes in the permutation of its key: a Feistel network over the next even
    number of bits, walked until it lands inside."""
    half = max(2, ((size - 1).bit_length() + 1) // 2)
    result = _feistel(numbers.astype(np.uint64), half, keys)
    outside = np.flatnonzero(result >= size)
    while len(outside):
        result[outside] = _feistel(result[outside], half, keys[outside])
        outside = outside[result[outside] >= size]
    return result.astype(np.int64)


def _feistel(x: np.ndarray, half: int, keys: np.ndarray) -> np.ndarray:
    mask, shift = np.uint64((1 << half) - 1), np.uint64(half)
    left, right = x >> shift, x & mask
    for i in range(ROUNDS):
        turn = keys + np.uint64((i + 1) * GOLDEN % (1 << 64))
        left, right = right, left ^ (mix(turn ^ right) & mask)
    return (left << shift) | right


def mix(x: np.ndarray) -> np.ndarray:
    """The finaliser of splitmix64: every bit of the result depends on every bit of x. Not for single numbers: numpy
    warns when those wrap around."""
    x = x + np.uint64(GOLDEN)
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return x
