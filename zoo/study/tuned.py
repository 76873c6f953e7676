"""Which tuning value is the best of each variant: by validation loss, over the seeds that all values were run with."""

import math
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from zoo.study.notes import read_notes
from zoo.study.plan import Job
from zoo.study.spec import Study
from zoo.study.watch import scores_of


def best_tuning(study: Study, jobs: Sequence[Job], root: Path) -> dict[str, Mapping[str, Any]]:
    """The tuning of the lowest mean validation loss by variant, told as it is chosen; of equal ones the first. A run
    that failed or diverged has an infinite loss. A variant without any finite one is told and left out."""
    notes = read_notes(root)
    losses: dict[str, dict[tuple[Any, ...], list[float]]] = defaultdict(lambda: defaultdict(list))
    for job in jobs:
        loss = scores_of(root, notes[job.job]).get("validation", {}).get("loss") if job.job in notes else None
        losses[job.variant][tuple(job.tuning.values())].append(math.inf if loss is None else loss)
    best: dict[str, Mapping[str, Any]] = {}
    for variant, found in losses.items():
        values, loss = min(((v, sum(some) / len(some)) for v, some in found.items()), key=lambda one: one[1])
        if not math.isfinite(loss):
            print(f"{variant}: no tuning value came to its end with every seed; it is not run further", file=sys.stderr)
            continue
        best[variant] = dict(zip(study.tuning, values, strict=True))
        words = ", ".join(f"{key}={value}" for key, value in best[variant].items())
        print(f"{variant}: best of {len(found)} is {words}, mean validation loss {loss:.4f}")
    return best
