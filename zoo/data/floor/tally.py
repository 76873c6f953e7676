"""Sums over tokens, kept apart by the skill they need and by how far back that stands on which they depend."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float64, Int64

BUCKETS = 20
"""Bucket 0: depends on no particular word; bucket b: 2^(b−1) to 2^b − 1 words back."""


def bucket(distance: Int64[np.ndarray, "*shape"]) -> Int64[np.ndarray, "*shape"]:
    """The bucket of each distance."""
    return np.minimum(np.frexp(distance.astype(np.float64))[1], BUCKETS - 1).astype(np.int64)


def bucket_name(index: int) -> str:
    """The distances of a bucket in words."""
    low, high = 1 << max(index - 1, 0), (1 << index) - 1
    return "none" if index == 0 else "1" if index == 1 else f"{low}–{high}"


class Tally:
    """`sums[key][skill, bucket]` in float64, whatever the parts in which tokens are added."""

    def __init__(self, skills: Sequence[str]):
        self.skills = skills
        self.sums: dict[str, Float64[np.ndarray, "S D"]] = {}

    def add(
        self, skill: Int64[np.ndarray, "N"], distance: Int64[np.ndarray, "N"], **values: Float64[np.ndarray, "N"]
    ) -> None:
        """Add one number for each token to each key."""
        cell = skill * BUCKETS + bucket(distance)
        for key, value in values.items():
            found = np.bincount(cell, weights=value, minlength=len(self.skills) * BUCKETS)
            self.sums[key] = self.sums.get(key, 0.0) + found.reshape(len(self.skills), BUCKETS)

    def total(self, key: str) -> float:
        """Over all tokens."""
        return float(self.sums[key].sum())

    def by_skill(self, key: str) -> dict[str, float]:
        """By the name of the skill; skills without tokens are left out."""
        some = self.sums["tokens"].sum(1) > 0
        return {name: float(self.sums[key][i].sum()) for i, name in enumerate(self.skills) if some[i]}

    def by_distance(self, skill: str, key: str) -> dict[str, float]:
        """Of one skill, by the name of the bucket; empty buckets are left out."""
        row = self.skills.index(skill)
        some = np.flatnonzero(self.sums["tokens"][row])
        return {bucket_name(b): float(self.sums[key][row, b]) for b in some.tolist()}
