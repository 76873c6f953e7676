"""Verdicts: better, worse, within noise, or not enough seeds.

A claim needs 8 pairs, more in a table of many rows (`pairs_needed`), and two witnesses that agree: the paired t
interval leaves out nought, and the sign-flip test, Holm-corrected over the rows of its table, has p ≤ 0.05.

A diverged run is an outcome, not a missing one: it loses against a run of the same seed that came to its end. Where
such pairs exist the size of their difference is unknown, so the row is tested by the exact sign test over all its
pairs, and the interval of the pairs with two scores must not say the opposite. Pairs in which both diverged say
nothing. Failed and unfinished runs are missing: they are counted and shown.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from zoo.number import counted
from zoo.study.evidence import BySeed, Evidence
from zoo.study.metric import read_metric
from zoo.study.statistics import ALPHA, Paired, detectable, holm, paired, pairs_needed, sign_test

Verdict = Literal["better", "worse", "within noise", "not enough seeds", "not comparable", "nothing yet"]

LEAST = 8
"""Pairs below which nothing is claimed."""

SPREAD = 4
"""Pairs below which their spread is a guess, so that no detectable difference is said."""


@dataclass(frozen=True)
class Row:
    """A variant against another."""

    variant: str
    against: str
    verdict: Verdict
    why: str
    """What stands behind a verdict that is none."""
    mean: float | None
    """Of the variant, over the seeds that have a score."""
    pairs: tuple[tuple[int, float, float], ...]
    """Seed, score of the variant, score of the other."""
    difference: Paired | None
    """Variant minus other."""
    wins: int
    losses: int
    """Pairs in which the other one diverged, and in which the variant did."""
    p: float | None
    """Not corrected."""
    corrected: float | None
    detectable: float | None
    """The true difference that would be claimed with 80 % power at the spread seen."""
    needed: int
    """Pairs without which nothing is claimed in its table."""

    @property
    def n(self) -> int:
        """Pairs that say something."""
        return len(self.pairs) + self.wins + self.losses

    @property
    def says(self) -> str:
        """The verdict in a cell."""
        return f"{self.verdict} ({self.n} of {self.needed})" if self.verdict == "not enough seeds" else self.verdict

    @property
    def test(self) -> str:
        """Which test gave p."""
        return "sign" if self.wins or self.losses else "sign-flip"


def judge(evidence: Evidence, comparisons: Sequence[tuple[str, str]], metric: str = "") -> list[Row]:
    """The rows of one table of (variant, other): compared, corrected together, put into words."""
    metric = metric or evidence.question.metric
    sign = read_metric(metric).sign
    rows = [_compare(evidence, variant, against, metric, sign) for variant, against in comparisons]
    corrected = holm([row.p for row in rows])
    needed = pairs_needed(len(rows), LEAST)
    rows = [replace(row, corrected=p, needed=needed) for row, p in zip(rows, corrected, strict=True)]
    return [_say(row, len(rows), sign) for row in rows]


def _compare(evidence: Evidence, variant: str, against: str, metric: str, sign: int) -> Row:
    own, other = evidence.accepted.get(variant, {}), evidence.accepted.get(against, {})
    pairs, wins, losses = _pairs(own, other, metric)
    scores = [value for run in own.values() if (value := run.value(metric)) is not None]
    found = paired([mine - theirs for _, mine, theirs in pairs]) if pairs else None
    verdict, why = _missing(evidence, variant, against, metric)
    row = Row(
        variant=variant,
        against=against,
        verdict="within noise" if pairs or wins or losses else verdict,
        why="" if pairs or wins or losses else why,
        mean=sum(scores) / len(scores) if scores else None,
        pairs=pairs,
        difference=found,
        wins=wins,
        losses=losses,
        p=None if found is None else found.p,
        corrected=None,
        detectable=None,
        needed=LEAST,
    )
    return replace(row, p=sign_test(*_order(row, sign))) if wins or losses else row


def _pairs(own: BySeed, other: BySeed, metric: str) -> tuple[tuple[tuple[int, float, float], ...], int, int]:
    """Pairs with two scores, and how many pairs were decided by a divergence: for the variant, and against it."""
    pairs, wins, losses = [], 0, 0
    for seed in sorted(own.keys() & other.keys()):
        mine, theirs = own[seed].value(metric), other[seed].value(metric)
        if mine is not None and theirs is not None:
            pairs.append((seed, mine, theirs))
        wins += other[seed].state == "diverged" and mine is not None
        losses += own[seed].state == "diverged" and theirs is not None
    return tuple(pairs), wins, losses


def _order(row: Row, sign: int) -> tuple[int, int]:
    """Pairs that the variant won, and that it lost."""
    won = sum(sign * (mine - theirs) < 0 for _, mine, theirs in row.pairs)
    lost = sum(sign * (mine - theirs) > 0 for _, mine, theirs in row.pairs)
    return won + row.wins, lost + row.losses


def _missing(evidence: Evidence, variant: str, against: str, metric: str) -> tuple[Verdict, str]:
    """Why two variants have no pair."""
    for name in (variant, against):
        reasons = sorted({reason for run, reason in evidence.refused if run.variant == name})
        if reasons and not evidence.accepted.get(name):
            return "not comparable", f"`{name}`: {reasons[0]}"
    for name in (variant, against):
        if not evidence.done(name):
            states = ", ".join(f"{count} {state}" for state, count in sorted(evidence.states(name).items()))
            return "nothing yet", f"no run of `{name}` is done ({states or 'no jobs'})"
        if all(run.value(metric) is None for run in evidence.done(name)):
            return _unscored(evidence, name, metric)
    return "nothing yet", "no seed has a score of both"


def _unscored(evidence: Evidence, name: str, metric: str) -> tuple[Verdict, str]:
    """Why the runs of a variant that are done lack the metric."""
    context = read_metric(metric).context
    if context is None:
        return "nothing yet", f"no run of `{name}` has a {metric}; does its corpus have that split?"
    if any(run.at_length(context).get("why") for run in evidence.done(name)):
        return "not comparable", f"`{name}` cannot read {context} positions"
    return "nothing yet", f"no run of `{name}` has a {metric}; is {context} one of record.lengths?"


def _say(row: Row, rows: int, sign: int) -> Row:
    """The verdict, and why there is none."""
    if not row.n:
        return row
    found, needed = row.difference, row.needed
    if found is not None and found.sd is not None and found.n >= SPREAD:
        row = replace(row, detectable=found.sd * detectable(max(row.n, needed), rows))
    if row.n < needed:
        rest = f" in a table of {counted(rows, 'row')}" if needed > LEAST else ""
        return replace(row, verdict="not enough seeds", why=f"{row.n} of the {needed} pairs that a claim needs{rest}")
    if row.corrected is None or row.corrected > ALPHA:
        return row
    low, high = -math.inf, math.inf
    if found is not None and found.low is not None and found.high is not None:
        low, high = found.low, found.high
    low, high = (low, high) if sign > 0 else (-high, -low)  # from here on less is better
    if row.wins or row.losses:
        won, lost = _order(row, sign)
        better, worse = won > lost and low <= 0, lost > won and high >= 0
    else:
        better, worse = high < 0, low > 0
    return replace(row, verdict="better" if better else "worse" if worse else "within noise")
