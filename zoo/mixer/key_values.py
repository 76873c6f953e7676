"""The states of attention: keys and values of all positions, of the last few, or of a memory."""

from dataclasses import replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from zoo.context import Context, Sequence
from zoo.state import State


class KeyValues(State):
    """Keys and values of every position so far, or of the last `window` ones in a ring: position n lies in slot
    n mod window, so nothing ever moves.

    A chunk longer than the ring still meets what each of its queries may see: it is read together with the old slots
    before it overwrites them.
    """

    def __init__(self, slots: int):
        self.slots = slots
        self.length = 0
        self.keys = self.values = torch.empty(0)

    def tensors(self) -> list[Tensor]:
        return [self.keys, self.values]

    def _allocate(self, k: Tensor, v: Tensor) -> None:
        """Room for all slots, in the dtype that the first keys and values have."""
        self.keys = k.new_zeros(*k.shape[:2], self.slots, k.shape[3])
        self.values = v.new_zeros(*v.shape[:2], self.slots, v.shape[3])

    def extend(
        self, k: Float[Tensor, "B G T K"], v: Float[Tensor, "B G T K"], context: Context
    ) -> tuple[Float[Tensor, "B G S K"], Float[Tensor, "B G S K"], Context]:
        """Take in keys and values of new positions; returns those that the queries may meet, and the context that says
        which positions they are."""
        before, new = self.length, k.shape[2]
        if not before:
            self._allocate(k, v)
        self.length += new
        if self.length <= self.slots:  # nothing to forget yet
            self.keys[:, :, before : self.length] = k
            self.values[:, :, before : self.length] = v
            return self.keys[:, :, : self.length], self.values[:, :, : self.length], context
        if new == 1:
            slot = before % self.slots
            self.keys[:, :, slot : slot + 1] = k
            self.values[:, :, slot : slot + 1] = v
            return self.keys, self.values, self._narrowed(context, before, before + 1)
        old = self._ordered(before)
        met_k, met_v = torch.cat([self.keys[:, :, old], k], 2), torch.cat([self.values[:, :, old], v], 2)
        kept = min(new, self.slots)
        places = torch.arange(self.length - kept, self.length, device=k.device) % self.slots
        self.keys[:, :, places] = k[:, :, -kept:]
        self.values[:, :, places] = v[:, :, -kept:]
        first = before - len(old)
        keys = context.once(("after", first), lambda: _part(context.keys, torch.arange(first, self.length)))
        return met_k, met_v, replace(context, keys=keys)

    def _ordered(self, before: int) -> Int[Tensor, " n"]:
        """The slots in use, oldest first."""
        return torch.arange(max(0, before - self.slots), before, device=self.keys.device) % self.slots

    def _narrowed(self, context: Context, last: int, length: int) -> Context:
        """The positions that lie in slots 0, 1, ... after position `last` was written."""

        def keys() -> Sequence:
            slots = torch.arange(self.slots, device=self.keys.device)
            return _part(context.keys, last - (last - slots) % self.slots)

        return replace(context, keys=context.once(("ring", self.slots, length), keys))


class MemoryKeyValues(State):
    """Keys and values of a memory, computed by the first call that reads it."""

    def __init__(self) -> None:
        self.held: tuple[Tensor, Tensor] | None = None

    def tensors(self) -> list[Tensor]:
        return list(self.held or ())


def _part(sequence: Sequence, index: Int[Tensor, " n"]) -> Sequence:
    """Some positions of a sequence."""
    index = index.to(sequence.positions.device)
    return Sequence(
        sequence.positions[:, index],
        None if sequence.real is None else sequence.real[:, index],
        None if sequence.documents is None else sequence.documents[:, index],
        None if sequence.prefix is None else sequence.prefix[:, index],
    )
