"""What a model carries from call to call when it generates."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import ClassVar
from weakref import ref

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from zoo.ability import Ability
from zoo.errors import UserError
from zoo.history import History
from zoo.sequence import Sequence


class State(ABC):
    """Contract: what one mixer of one layer keeps for a batch of rows. It is made by the mixer, allocated once for the
    most positions it will see, and written in place. Every tensor that is an attribute of it has the rows on its first
    axis, or one row where all are alike."""

    @abstractmethod
    def tensors(self) -> list[Tensor]:
        """All that it holds, so that its bytes can be counted."""

    def reorder(self, rows: Int[Tensor, " R"], before: int) -> None:
        """Row i becomes what row rows[i] was, of `before` rows; there may be more or fewer rows than before."""
        reorder_attributes(self, rows, before)

    growing: ClassVar[Mapping[str, int]] = MappingProxyType({})
    """Of each tensor that is as long as the capacity, or as a memory: which axis."""

    def advance(self, count: int) -> None:  # noqa: B027  # most states are tensors alone
        """That many positions more were written into its tensors: what it holds beside them moves on."""

    def truncate(self, length: int, counts: Int[Tensor, " B"]) -> None:
        """Forget all but the first `length` positions, of which counts[i] are real in row i. Only for the states of
        parts that can go back; what was read of a memory stays."""
        raise TypeError(f"{type(self).__name__} cannot {Ability.ROLLBACK}")


@dataclass
class Layer:
    """The states of one layer; the cross-mixer has one where the stack reads a memory, the ffn where it looks back."""

    mixer: State
    cross: State | None
    ffn: State | None = None

    @property
    def states(self) -> list[State]:
        """Those that there are."""
        return [state for state in (self.mixer, self.cross, self.ffn) if state is not None]


@dataclass
class Memory:
    """What an encoder leaves for a decoder: hidden states, and what is known of their positions."""

    growing: ClassVar[Mapping[str, int]] = MappingProxyType({"states": 1, "positions": 1, "real": 1})

    states: Float[Tensor, "B S D"]
    positions: Int[Tensor, "R S"]
    real: Bool[Tensor, "B S"] | None = None
    documents: Int[Tensor, "B S"] | None = None

    @property
    def sequence(self) -> Sequence:
        """Its positions, as keys."""
        return Sequence(self.positions, self.real, self.documents)

    def apart(self) -> "Memory":
        """The same with marks of its own, for a state that moves its rows in place: those of the text that was read
        may be its caller's."""
        real, documents = (None if one is None else one.clone() for one in (self.real, self.documents))
        return Memory(self.states, self.positions, real, documents)

    def advance(self, count: int) -> None:
        """A memory stays as it is."""


@dataclass
class ModelState:
    """The history, a state for each layer and, in an encoder–decoder, what the encoder left."""

    history: History
    layers: list[Layer]
    model: "ref[nn.Module]" = field(repr=False)
    """Which model it belongs to; no other one gets its name, as it would a number after it is gone."""
    memory: Memory | None = None
    back: int = 0
    """How many positions may be forgotten again."""

    def states(self) -> list[State]:
        """Those of all layers."""
        return [state for layer in self.layers for state in layer.states]

    def holders(self) -> list[History | Memory | State]:
        """The history, the memory and the states: all that a step reads and writes beside the weights."""
        return [self.history, *([] if self.memory is None else [self.memory]), *self.states()]

    def advance(self, count: int) -> None:
        """That many positions more were written into the tensors, by a program that knows nothing but them."""
        for holder in self.holders():
            holder.advance(count)

    def reorder(self, rows: Int[Tensor, " R"]) -> None:
        """Row i becomes what row rows[i] was; there may be more or fewer rows than before. Nothing is moved where all
        stay as they are."""
        before = len(self.history.positions)
        if len(rows) == before and torch.equal(rows, torch.arange(before, device=rows.device)):
            return
        reorder_attributes(self.history, rows, before)
        for state in self.states():
            state.reorder(rows, before)
        if self.memory is not None:
            reorder_attributes(self.memory, rows, before)

    def truncate(self, length: int) -> None:
        """Forget all but the first `length` positions. Raises UserError for more of them than the state was made to
        forget."""
        if not 0 <= length <= self.history.length:
            raise UserError(f"{self.history.length} positions are kept, so the state cannot go back to {length}")
        if length == self.history.length:
            return
        if self.history.reached - length > self.back:
            raise UserError(
                f"this state can go back by {self.back} positions, not from {self.history.reached} to {length}; make"
                " one that can: model.start(rows, capacity, back)"
            )
        self.history.truncate(length)
        for state in self.states():
            state.truncate(length, self.history.counts)

    def bytes(self) -> int:
        """Bytes that all layers hold."""
        return sum(t.numel() * t.element_size() for state in self.states() for t in state.tensors())


def reorder_attributes(of: object, rows: Int[Tensor, " R"], before: int) -> None:
    """Reorder every tensor that is an attribute and has `before` rows: in place where their number stays, so that no
    memory moves."""
    for name, value in vars(of).items():
        if isinstance(value, Tensor) and value.ndim and len(value) == before:
            if len(rows) == before:
                value.copy_(value[rows])
            else:
                setattr(of, name, value[rows])
