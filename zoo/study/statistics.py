"""Statistics of paired differences: one number per seed, of two variants that saw the same batches.

    mean ± t(1 − α/2, n − 1) · sd / √n                        the interval
    p = share of the 2ⁿ sign patterns with |Σ ±dᵢ| ≥ |Σ dᵢ|    the sign-flip test: exact when the signs of the
                                                              differences are as good as tossed, whatever their sizes
    Holm: p₍ᵢ₎ ↦ max over j ≤ i of (m − j + 1) · p₍ⱼ₎           for the m rows of one table

paper: Holm 1979, "A simple sequentially rejective multiple test procedure"; Fisher 1935 for the sign-flip test
differs: beyond 16 pairs the patterns are drawn, not all counted
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

ALPHA = 0.05
"""How often two variants that are equal may be called different, at most."""

POWER = 0.8

ENUMERATED = 16
"""Pairs up to which all sign patterns are counted."""

TIE = 1e-12
"""Sums that differ by less, relative to the sum of the sizes, are the same: rounding must not break a tie."""


@dataclass(frozen=True)
class Paired:
    """What n paired differences say of their mean. `low`, `high`, `sd` and `p` are None for fewer than two."""

    n: int
    mean: float
    sd: float | None
    low: float | None
    high: float | None
    p: float | None
    """Of the sign-flip test, two-sided, not corrected."""


def paired(differences: Sequence[float]) -> Paired:
    """Mean, sample standard deviation, 95 % t interval and sign-flip p. Raises ValueError for none."""
    d = np.asarray(differences, dtype=np.float64)
    if not len(d):
        raise ValueError("no differences")
    mean, n = float(d.mean()), len(d)
    if n == 1:
        return Paired(1, mean, None, None, None, None)
    from scipy import stats

    sd = float(d.std(ddof=1))
    half = float(stats.t.ppf(1 - ALPHA / 2, n - 1)) * sd / math.sqrt(n)
    return Paired(n, mean, sd, mean - half, mean + half, sign_flip(d))


def difference(one: Mapping[int, float], other: Mapping[int, float]) -> Paired | None:
    """One minus the other, paired by seed; None when they share none."""
    shared = [one[seed] - other[seed] for seed in sorted(one.keys() & other.keys())]
    return paired(shared) if shared else None


def sign_flip(differences: Sequence[float] | np.ndarray) -> float:
    """Two-sided p of the sign-flip test of "the differences lie symmetrically about nought"."""
    d = np.asarray(differences, dtype=np.float64)
    if len(d) > ENUMERATED:
        from scipy import stats

        done = stats.permutation_test(
            (d,), np.mean, permutation_type="samples", n_resamples=9_999, rng=np.random.default_rng(0)
        )
        return float(done.pvalue)
    sums = np.abs(_patterns(len(d)) @ d)
    return float((sums >= abs(d.sum()) - TIE * np.abs(d).sum()).mean())


@lru_cache
def _patterns(n: int) -> np.ndarray:
    """Half of the sign patterns, one a row: the other half has the same sums with the other sign."""
    bits = np.arange(2 ** (n - 1))[:, None] >> np.arange(n) & 1
    return 1.0 - 2.0 * bits


def sign_test(wins: int, losses: int) -> float:
    """Two-sided p of the exact sign test, for pairs of which only the order is known."""
    from scipy import stats

    return float(stats.binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0


def holm(p: Sequence[float | None]) -> list[float | None]:
    """Adjusted p values, in the same order; None stays None but counts as a row."""
    order = sorted((one, place) for place, one in enumerate(p) if one is not None)
    adjusted: list[float | None] = [None] * len(p)
    highest = 0.0
    for rank, (one, place) in enumerate(order):
        highest = max(highest, min(1.0, (len(p) - rank) * one))
        adjusted[place] = highest
    return adjusted


def pairs_needed(rows: int, least: int) -> int:
    """How many pairs a claim needs in a table of that many rows: `least`, or as many as it takes for the smallest
    possible sign-flip p, 2 / 2ⁿ, to survive the correction."""
    n = least
    while 2.0 ** (1 - n) * rows > ALPHA:
        n += 1
    return n


SAMPLES = 4000


@lru_cache
def detectable(n: int, rows: int) -> float:
    """The true mean difference, in standard deviations of one difference, that a claim finds with 80 % power in a table
    of that many rows: interval and corrected sign-flip test must agree, where no other row is of help. For normal
    differences. Counted on 4,000 samples up to 12 pairs; beyond, where the two tests hardly differ, from the noncentral
    t distribution at α / rows. Infinite when no claim is possible."""
    if n < 2 or 2.0 ** (1 - n) * rows > ALPHA:
        return math.inf
    if n > 12:
        return _detectable_by_t(n, ALPHA / rows)
    noise = np.random.default_rng(0).standard_normal((SAMPLES, n))
    low, high = 0.0, 8.0
    for _ in range(14):
        middle = (low + high) / 2
        low, high = (low, middle) if _found(noise + middle, rows) >= POWER else (middle, high)
    return high


def _found(d: np.ndarray, rows: int) -> float:
    """The share of samples, one a row, in which a claim is made."""
    from scipy import stats

    n = d.shape[1]
    observed, patterns = np.abs(d.sum(1)), _patterns(n)
    reached = np.zeros(len(d))
    for start in range(0, len(patterns), 256):
        reached += (np.abs(d @ patterns[start : start + 256].T) >= observed[:, None] * (1 - TIE)).sum(1)
    half = stats.t.ppf(1 - ALPHA / 2, n - 1) * d.std(axis=1, ddof=1) / math.sqrt(n)
    return float(((reached / len(patterns) * rows <= ALPHA) & (observed / n > half)).mean())


def _detectable_by_t(n: int, alpha: float) -> float:
    from scipy import optimize, stats

    edge = stats.t.ppf(1 - alpha / 2, n - 1)

    def miss(effect: float) -> float:
        return float(stats.nct.sf(edge, n - 1, effect * math.sqrt(n))) - POWER  # the other tail is nothing there

    return float(optimize.brentq(miss, 1e-6, (edge + 6.0) / math.sqrt(n)))
