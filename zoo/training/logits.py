"""Logits of the scored positions of a task, in their order, for what only scores: in blocks, or whole where the model
is compiled. Those of a training step, whose blocks have gradients, are of `zoo/training/forward.py`."""

from collections.abc import Callable, Iterator
from typing import Any

from jaxtyping import Bool, Float
from torch import Tensor, nn

from zoo.bare import bare
from zoo.objective import Task
from zoo.training.blocks import block_size

LogitsOf = Callable[[nn.Module, Task, Tensor], Iterator[Tensor]]


def whole_logits(model: nn.Module, task: Task, scored: Bool[Tensor, "B T"]) -> Iterator[Float[Tensor, "N V"]]:
    """The plain way: those of all positions, of which these are taken."""
    yield model(**task.inputs).logits[scored]


def block_logits(model: nn.Module, task: Task, scored: Bool[Tensor, "B T"]) -> Iterator[Float[Tensor, "N V"]]:
    """The same up to rounding; the other positions get none, and each block is given up before the next one is made."""
    own: Any = bare(model)
    hidden = own.read(**task.inputs)[0][scored]
    for some in hidden.split(block_size(own.head, hidden)):
        yield own.head(some[None])[0]
