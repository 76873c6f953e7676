"""The updates of a run: the loop with all that the experiment says of it."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from zoo.experiment import Experiment
from zoo.jobs.parts import Parts
from zoo.training.compilation import compiling
from zoo.training.cost import TrainingFlops
from zoo.training.loop import Step, Update, fit
from zoo.training.miscompiled import refuse_miscompiled
from zoo.training.runtime import Machinery


def updates(
    experiment: Experiment, parts: Parts, machinery: Machinery, *, start: int = 0, tokens: int = 0
) -> Iterator[Step]:
    """Make the updates from `start` on, before which `tokens` positions were seen; a record after each. Raises
    RunFailed when code was compiled wrong, or could not be compiled."""
    budget, seed = experiment.budget, experiment.seed
    tasks = partial(parts.feed.tasks, accumulate=budget.accumulate, seed=seed)
    terms: dict[str, Any] = {
        "label_smoothing": parts.objective.label_smoothing,
        "output_z": parts.objective.output_z,
        "autocast": machinery.autocast,
    }
    with compiling():
        if machinery.compile and start < budget.steps:
            forward = parts.forward(parts.model.train(), parts.device, **terms)
            refuse_miscompiled(Update(forward, tasks(start)[:1], start, seed), parts.device, parts.scale is not None)
        yield from fit(
            parts.model,
            parts.optimizer,
            parts.schedule,
            tasks,
            steps=budget.steps,
            seed=seed,
            device=parts.device,
            start=start,
            tokens=tokens,
            cost=TrainingFlops(parts.model),
            forward=parts.forward,
            scale=parts.scale,
            **terms,
        )
