"""The statistics agree with scipy, closed forms and brute force."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from zoo.study.statistics import ALPHA, detectable, holm, paired, pairs_needed, sign_flip, sign_test

RANDOM = np.random.default_rng(7)


@pytest.mark.parametrize("n", [2, 3, 8, 11])
def test_the_interval_is_scipys_and_the_test_counts_all_patterns(n: int) -> None:
    d = RANDOM.standard_normal(n) + 0.4
    found = paired(list(d))
    expected = stats.ttest_1samp(d, 0.0).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-12)
    assert (found.mean, found.sd) == pytest.approx((np.mean(d), np.std(d, ddof=1)), rel=1e-12)
    patterns = itertools.product((1, -1), repeat=n)
    counted = np.mean([abs(np.dot(one, d)) >= abs(d.sum()) - 1e-12 for one in patterns])
    assert found.p == pytest.approx(counted, abs=1e-12)
    theirs = stats.permutation_test((d,), np.mean, permutation_type="samples", n_resamples=math.inf)
    assert found.p == pytest.approx(theirs.pvalue, abs=1e-12)


def test_many_pairs_are_drawn_and_agree_with_the_count() -> None:
    d = RANDOM.standard_normal(17) + 0.45
    bits = np.arange(2**17)[:, None] >> np.arange(17) & 1
    exact = float((np.abs((1 - 2 * bits) @ d) >= abs(d.sum()) - 1e-12).mean())
    assert sign_flip(d) == pytest.approx(exact, abs=4 * math.sqrt(exact / 1e4))


def test_the_pairs_of_a_known_table() -> None:
    """Differences −0.02, −0.03, −0.02: t = −7 with two degrees of freedom, p = 0.0198."""
    found = paired([-0.02, -0.03, -0.02])
    assert found.mean / (found.sd / math.sqrt(3)) == pytest.approx(-7.0)
    assert found.p == 0.25  # the least that three pairs can give
    assert found.high < 0


def test_ties_and_rounding_do_not_move_the_test() -> None:
    assert sign_flip([0.1, 0.2, 0.3, -0.6]) == 1.0  # 0.1 + 0.2 + 0.3 − 0.6 is 1e-16, not 0
    assert sign_flip([0.1] * 8) == 2 / 256
    assert sign_flip([0.0] * 4) == 1.0


def test_one_pair_has_no_spread_and_equal_pairs_have_none() -> None:
    assert paired([0.5]).sd is None
    assert paired([0.5]).p is None
    equal = paired([0.0, 0.0])
    assert (equal.low, equal.high, equal.p) == (0.0, 0.0, 1.0)
    with pytest.raises(ValueError, match="no differences"):
        paired([])


def test_holm_is_the_closure_of_bonferroni() -> None:
    """The adjusted p of a hypothesis is the largest Bonferroni p among all sets that hold it."""
    for m in (1, 2, 5):
        p = list(RANDOM.uniform(0, 0.2, m))
        sets = [one for size in range(1, m + 1) for one in itertools.combinations(range(m), size)]
        for place, adjusted in enumerate(holm(p)):
            closed = max(min(1.0, len(one) * min(p[i] for i in one)) for one in sets if place in one)
            assert adjusted == pytest.approx(closed)
    assert holm([0.01, None, 0.5]) == [pytest.approx(0.03), None, 1.0]  # a row without p counts
    assert holm([]) == []


def test_how_many_pairs_a_table_needs() -> None:
    assert [pairs_needed(rows, 8) for rows in (1, 6, 7, 12, 13, 25)] == [8, 8, 9, 9, 10, 10]
    assert [pairs_needed(rows, 1) for rows in (1, 3)] == [6, 7]


def test_the_sign_test_is_the_binomial() -> None:
    assert sign_test(8, 0) == pytest.approx(2 / 256)
    assert sign_test(9, 1) == pytest.approx(22 / 1024)
    assert sign_test(0, 0) == 1.0


def test_the_detectable_difference_is_found_as_often_as_it_says() -> None:
    """On samples of its own, with scipy's interval and a p counted here."""
    random = np.random.default_rng(11)
    for n, rows in ((8, 1), (8, 6)):
        effect = detectable(n, rows)
        found = 0
        for _ in range(1500):
            one = paired(list(random.standard_normal(n) + effect))
            found += one.p * rows <= ALPHA and one.low > 0
        assert found / 1500 == pytest.approx(0.8, abs=0.035)


def test_the_detectable_difference_of_eight_seeds_in_six_rows_is_that_all_agree() -> None:
    """Only patterns with all eight signs equal reach 0.05 / 6: Φ(δ)⁸ = 0.8, where the interval nearly always agrees."""
    assert detectable(8, 6) == pytest.approx(stats.norm.ppf(0.8 ** (1 / 8)), rel=0.03)
    assert detectable(8, 7) == math.inf
    assert detectable(20, 1) == pytest.approx(0.66, abs=0.01)  # a t test of 20 pairs at 80 %: 0.66 sd
    assert detectable(13, 1) < detectable(12, 1) < detectable(10, 1)
