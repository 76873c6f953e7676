"""Whether the held-out split can tell the variants apart: all seeds are scored on it, so the luck of its text is theirs
alike, and no number of them takes it away."""

from math import sqrt

from zoo.number import counted
from zoo.study.metric import read_metric
from zoo.study.report.findings import Findings
from zoo.study.report.numbers import listed

SD = 0.25
"""Nats by which two variants that are alike on the whole differ on one target, in the mean over eight seeds: 0.11 to
0.28 between norms of small models (benchmarks/resolution.py, EXPERIMENTS.md). With one seed it is 0.3 to 0.7, but how
much seeds scatter is in the interval; what is left is what all of them share."""

LEAST = 1000
"""Targets below which no difference is shown that a change of architecture usually makes: 0.016 nats, or 0.03 with one
seed."""


def too_small(findings: Findings) -> list[str]:
    """A sentence where the split that the loss is judged on has too few targets for the differences that are claimed,
    or for any; nothing where it has enough."""
    metric, evidence = read_metric(findings.question.metric), findings.evidence
    runs = [run for name in evidence.shown for run in evidence.done(name)]
    counts = [run.scores.get(metric.split, {}).get("scored") for run in runs]
    known = [int(count) for count in counts if isinstance(count, int | float) and count > 0]
    if metric.name != "loss" or metric.context is not None or not known or not findings.rows:
        return []
    targets = min(known)
    luck = 2 * SD / sqrt(targets)
    claimed = [row for row in findings.rows if row.verdict in ("better", "worse") and row.difference is not None]
    below = {row.variant: None for row in claimed if row.difference and abs(row.difference.mean) < luck}
    if not below and targets >= LEAST:
        return []
    less = f"; the difference that is claimed of {listed(list(below))} is smaller" if below else ""
    return [
        f"The {metric.split} split is too small to compare by: on {counted(targets, 'scored target')} models that are"
        f" alike differ, in the mean over many seeds, by up to about {luck:.2g} nats per token{less}. More text helps,"
        " more seeds do not."
    ]
