"""What a training step costs, counted from the shapes of what it is given."""

from functools import lru_cache

from zoo.model import Model
from zoo.objective import Task


class TrainingFlops:
    """Floating-point operations of one training step on a task, three times those of the forward pass over all its
    positions, padding too. A row of each length is counted once."""

    def __init__(self, model: Model):
        self._of_row = lru_cache(maxsize=None)(model.flops)

    def __call__(self, task: Task) -> int:
        rows, target = task.inputs["tokens"].shape
        source = task.inputs["source"].shape[1] if "source" in task.inputs else 0
        return 3 * rows * self._of_row(target, source)
