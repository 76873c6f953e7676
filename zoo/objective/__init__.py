"""What is predicted. An objective turns a batch of data into the inputs of a model, the targets and their weights."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from jaxtyping import Float, Int
from torch import Tensor

from zoo.data.batch import Batch, Notes
from zoo.data.special import Special
from zoo.errors import UserError
from zoo.registry import Registry
from zoo.traits import Traits


@dataclass(frozen=True)
class Task:
    """What one batch asks of a model: `inputs` are the arguments of `Model.forward`; target t is what the logits at
    position t must predict; a weight of 0 means not scored. `notes` say what is known of each target, where its corpus
    was generated and a whole left-to-right reading is asked for."""

    inputs: dict[str, Any]
    targets: Int[Tensor, "B T"]
    weights: Float[Tensor, "B T"]
    notes: Notes | None = None

    def to(self, device: torch.device) -> "Task":
        """The same task on another device; notes stay where scores are summed, on the CPU."""
        inputs = {key: value.to(device) if isinstance(value, Tensor) else value for key, value in self.inputs.items()}
        return Task(inputs, self.targets.to(device), self.weights.to(device), self.notes)


Draws = Callable[[int, int], Tensor]
"""draws(T, n): uniform numbers (B, T, n) in [0, 1), those of a row from the row's own stream: how rows fall into
batches changes nothing."""


class Objective(ABC):
    """Contract: the shift between inputs and targets happens here and nowhere else; padding and special marks that are
    no prediction have weight 0; all randomness comes from `draws`."""

    wants: ClassVar[str]
    """What it asks of a topology, to complete the sentence 'this objective needs a topology that …'."""
    fills: ClassVar[bool] = False
    """Whether a model that was trained so can say what stands in place of the mask mark."""
    translates: ClassVar[bool] = False
    """Whether a model that was trained so on pairs says the target of a source."""
    reads: ClassVar[frozenset[str]] = frozenset({"text"})
    """The kinds of corpus it can be made of: text, pairs."""
    of_text: ClassVar[frozenset[str]] = frozenset()
    """Keys that say what becomes of a text, and nothing of other data."""

    def __init__(self, label_smoothing: float, output_z: float):
        """label_smoothing: share of the probability that the training target spreads evenly over the vocabulary.
        output_z: coefficient of the mean squared log of the softmax's denominator; not the router's z-loss of experts.
        """
        if not 0 <= label_smoothing < 1:
            raise UserError(f"objective.label_smoothing={label_smoothing} must be at least 0 and below 1")
        if output_z < 0:
            raise UserError(f"objective.output_z={output_z} must be at least 0")
        self.label_smoothing = label_smoothing
        self.output_z = output_z

    @property
    def scored(self) -> float:
        """Which share of the positions it scores, about, as far as its keys tell."""
        return 1.0

    @classmethod
    @abstractmethod
    def serves(cls, traits: Traits) -> bool:
        """Whether a topology with these traits can be trained so, to its full use."""

    @abstractmethod
    def window(self, context: int) -> tuple[int, int]:
        """(length, overlap) of the windows of a token stream that fill a context of that many positions: consecutive
        windows share `overlap` tokens, so that each target is scored once. Raises UserError when it is too short."""

    @abstractmethod
    def prepare(self, batch: Batch, special: Special, traits: Traits, draws: Draws) -> Task:
        """The task of that batch for a topology with these traits. `special` has the ids of start, end and mask."""

    def opening(
        self, text: Int[Tensor, " T"], special: Special, traits: Traits
    ) -> tuple[Int[Tensor, " S"] | None, Int[Tensor, " P"]]:
        """(source, prompt) from which a model that was trained so goes on after that text: the text itself.
        Raises UserError where nothing is gone on with."""
        return None, text


objectives: Registry[Objective] = Registry("objective", Objective, __name__)
