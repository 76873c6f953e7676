"""What a training step costs, counted from the shapes of what it is given."""

from zoo.model import Model
from zoo.objective import Task


def training_flops(model: Model, task: Task) -> int:
    """Floating-point operations of one training step on that task, three times those of the forward pass over all its
    positions, padding too."""
    rows, target = task.inputs["tokens"].shape
    source = task.inputs["source"].shape[1] if "source" in task.inputs else 0
    return 3 * rows * model.flops(target, source)
