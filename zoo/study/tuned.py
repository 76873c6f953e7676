"""Which tuning value is the best of each variant: by validation loss, over the seeds that all values were run with."""

import math
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from zoo.study.plan import Job
from zoo.study.spec import Study
from zoo.study.watch import scores_of
from zoo.sweep.notes import OVER, read_notes

Losses = dict[str, dict[tuple[Any, ...], float]]
"""By variant and tuning."""


def ended(jobs: Sequence[Job], root: Path) -> bool:
    """Whether all of these have come to an end. Jobs are known by their overrides: an earlier start of the study may
    have numbered them otherwise."""
    over = {tuple(note.overrides) for note in read_notes(root).values() if note.state in OVER}
    return all(job.overrides in over for job in jobs)


def mean_losses(jobs: Sequence[Job], root: Path) -> Losses:
    """The mean validation loss of each tuning; infinite where a run has none, failed or diverged."""
    notes = {tuple(note.overrides): note for note in read_notes(root).values()}
    losses: dict[str, dict[tuple[Any, ...], list[float]]] = defaultdict(lambda: defaultdict(list))
    for job in jobs:
        note = notes.get(job.overrides)
        loss = None if note is None else scores_of(root, note).get("validation", {}).get("loss")
        losses[job.variant][tuple(job.tuning.values())].append(math.inf if loss is None else loss)
    return {name: {values: sum(some) / len(some) for values, some in found.items()} for name, found in losses.items()}


def best_tuning(study: Study, losses: Losses) -> dict[str, Mapping[str, Any]]:
    """The tuning of the lowest loss by variant; of equal ones the first. A variant without any finite one is left
    out."""
    best = {variant: min(found, key=lambda values: found[values]) for variant, found in losses.items()}
    return {
        variant: dict(zip(study.tuning, values, strict=True))
        for variant, values in best.items()
        if math.isfinite(losses[variant][values])
    }


def tell_tuning(losses: Losses, best: Mapping[str, Mapping[str, Any]]) -> None:
    """Say what was chosen for each variant, and which are not run further."""
    for variant, found in losses.items():
        if variant not in best:
            print(
                f"'{variant}': no tuning value came to its end with every seed; it is not run further", file=sys.stderr
            )
            continue
        words = ", ".join(f"{key}={value}" for key, value in best[variant].items())
        print(f"'{variant}': best of {len(found)} is {words}, mean validation loss {min(found.values()):.4f}")
