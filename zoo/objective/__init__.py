"""What is predicted. An objective turns a batch of data into the inputs of a model, the targets and their weights."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from jaxtyping import Float, Int
from torch import Tensor

from zoo.data.batch import Batch
from zoo.data.special import Special
from zoo.errors import UserError
from zoo.registry import Registry


@dataclass(frozen=True)
class Task:
    """What one batch asks of a model: `inputs` are the arguments of `Model.forward`; target t is what the logits at
    position t must predict; a weight of 0 means not scored."""

    inputs: dict[str, Any]
    targets: Int[Tensor, "B T"]
    weights: Float[Tensor, "B T"]

    def to(self, device: torch.device) -> "Task":
        """The same task on another device."""
        inputs = {key: value.to(device) if isinstance(value, Tensor) else value for key, value in self.inputs.items()}
        return Task(inputs, self.targets.to(device), self.weights.to(device))


class Objective(ABC):
    """Contract: the shift between inputs and targets happens here and nowhere else; padding and special marks that are
    no prediction have weight 0; all randomness comes from the generator."""

    serves: ClassVar[frozenset[str]]
    """The topologies this objective makes sense for."""
    reads: ClassVar[frozenset[str]] = frozenset({"text"})
    """The kinds of corpus it can be made of: text, pairs."""

    def __init__(self, label_smoothing: float):
        """label_smoothing: share of the probability that the training target spreads evenly over the vocabulary."""
        if not 0 <= label_smoothing < 1:
            raise UserError(f"objective.label_smoothing={label_smoothing} must be at least 0 and below 1")
        self.label_smoothing = label_smoothing

    @abstractmethod
    def window(self, context: int) -> tuple[int, int]:
        """(length, overlap) of the windows of a token stream that fill a context of that many positions: consecutive
        windows share `overlap` tokens, so that each target is scored once."""

    @abstractmethod
    def prepare(self, batch: Batch, special: Special, topology: str, generator: torch.Generator) -> Task:
        """The task of that batch for that topology. `special` has the ids of start, end and mask."""


objectives: Registry[Objective] = Registry("objective", Objective, __name__)
