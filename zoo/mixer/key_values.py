"""The states of attention: keys and values of all positions, of the last few, or of a memory."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import ClassVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from zoo.context import Context
from zoo.mixer.large_pages import empty
from zoo.sequence import Sequence
from zoo.state import State

Extended = tuple[Float[Tensor, "B G S K"], Float[Tensor, "B G S K"], Context]
"""Keys and values that the queries may meet, and the context that says which positions they are."""


class KeyValues(State):
    """Keys and values of every position so far, in the order they came."""

    growing: ClassVar[Mapping[str, int]] = MappingProxyType({"keys": 2, "values": 2})

    def __init__(self, capacity: int):
        self.capacity = capacity
        self.length = 0
        self.keys = self.values = torch.empty(0)

    def tensors(self) -> list[Tensor]:
        return [self.keys, self.values]

    def extend(self, k: Float[Tensor, "B G T K"], v: Float[Tensor, "B G T K"], context: Context) -> Extended:
        """Take in keys and values of new positions."""
        if not self.length:
            self.keys, self.values = (empty(one, *one.shape[:2], self.capacity, one.shape[3]) for one in (k, v))
        before = self.length
        self.length = before + k.shape[2]
        for kept, one in ((self.keys, k), (self.values, v)):
            kept[:, :, before : self.length] = one
        return self.keys[:, :, : self.length], self.values[:, :, : self.length], context

    def advance(self, count: int) -> None:
        self.length += count

    def reorder(self, rows: Int[Tensor, " R"], before: int) -> None:
        """Only what is held is moved, where the number of rows stays."""
        if len(rows) != before:
            super().reorder(rows, before)
            return
        for kept in (self.keys, self.values):
            if self.length:
                kept[:, :, : self.length] = kept[rows, :, : self.length]

    def truncate(self, length: int, counts: Int[Tensor, " B"]) -> None:
        self.length = length


class Ring(State):
    """Keys and values of the last `window` real positions of each row: place p lies in slot p mod w, so nothing ever
    moves, and padding takes no slot. One more slot takes what nobody will read. There are w = window + back slots: so
    many more positions can be forgotten again, and the last `window` before them are still there.

    A chunk of several positions is read together with the old slots before it overwrites them.
    """

    def __init__(self, window: int, back: int = 0):
        self.slots = window + back
        self.keys = self.values = torch.empty(0)
        self.places: Int[Tensor, "R w1"] = torch.empty(0, 0, dtype=torch.long)
        self.prefix: Bool[Tensor, "R w1"] = torch.empty(0, 0, dtype=torch.bool)
        self.prefixed = False

    def tensors(self) -> list[Tensor]:
        return [self.keys[:, :, : self.slots], self.values[:, :, : self.slots]]

    def extend(self, k: Float[Tensor, "B G T K"], v: Float[Tensor, "B G T K"], context: Context) -> Extended:
        """Take in keys and values of new positions."""
        new = context.queries
        self._prepare(k, v, new)
        if k.shape[2] == 1:
            self._write(k, v, new)
            met_k, met_v = self.keys[:, :, : self.slots], self.values[:, :, : self.slots]
            keys = context.once(("ring", self.slots), lambda: self._held(new))
        else:
            keys = context.once(("ring", self.slots), lambda: _joined(self._held(new), new))
            met_k = torch.cat([self.keys[:, :, : self.slots], k], 2)
            met_v = torch.cat([self.values[:, :, : self.slots], v], 2)
            self._write(k, v, new)
        return met_k, met_v, replace(context, keys=keys)

    def _prepare(self, k: Tensor, v: Tensor, new: Sequence) -> None:
        """Room at the first call, and a row of places for each row as soon as the rows are not alike."""
        if not self.keys.numel():
            self.keys, self.values = (one.new_zeros(*one.shape[:2], self.slots + 1, one.shape[3]) for one in (k, v))
            self.places = new.positions.new_full((1, self.slots + 1), -1)
            self.prefix = torch.zeros_like(self.places, dtype=torch.bool)
        rows = max(len(new.positions), 1 if new.prefix is None else len(new.prefix))
        if rows > len(self.places):
            self.places = self.places.expand(rows, -1).clone()
            self.prefix = self.prefix.expand(rows, -1).clone()

    def _write(self, k: Tensor, v: Tensor, new: Sequence) -> None:
        """Each row's last real positions into their slots, the rest into the spare one."""
        places = new.positions.expand(len(self.places), -1)
        real = torch.ones_like(places, dtype=torch.bool) if new.real is None else new.real.expand_as(places)
        last = places.masked_fill(~real, -1).amax(1, keepdim=True)
        kept = real & (places > last - self.slots)
        slots = torch.where(kept, places % self.slots, self.slots)
        self.places.scatter_(1, slots, places.masked_fill(~kept, -1))
        if new.prefix is not None:
            self.prefixed = True
            self.prefix.scatter_(1, slots, new.prefix.expand_as(places))
        index = slots[:, None, :, None]
        self.keys.scatter_(2, index.expand(*k.shape), k)
        self.values.scatter_(2, index.expand(*v.shape), v)

    def _held(self, new: Sequence) -> Sequence:
        """What lies in the slots; an empty one is not real."""
        places = self.places[:, : self.slots]
        prefix = self.prefix[:, : self.slots].clone() if self.prefixed else None
        return Sequence(places.clamp(min=0), places >= 0, None, prefix)

    def truncate(self, length: int, counts: Int[Tensor, " B"]) -> None:
        self.places.masked_fill_(self.places >= counts[: len(self.places), None], -1)


class MemoryKeyValues(State):
    """Keys and values of a memory, computed by the first call that reads it."""

    growing: ClassVar[Mapping[str, int]] = MappingProxyType({"keys": 2, "values": 2})

    def __init__(self) -> None:
        self.keys: Tensor | None = None
        self.values: Tensor | None = None

    def once(self, compute: Callable[[], tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
        """Keys and values, from an earlier call if there was one."""
        if self.keys is None or self.values is None:
            self.keys, self.values = compute()
        return self.keys, self.values

    def tensors(self) -> list[Tensor]:
        return [one for one in (self.keys, self.values) if one is not None]

    def truncate(self, length: int, counts: Int[Tensor, " B"]) -> None:
        """A memory is no part of the text."""


def _joined(old: Sequence, new: Sequence) -> Sequence:
    """Two sequences one after the other."""
    rows = max(len(old.positions), len(new.positions))
    real = torch.ones_like(new.positions, dtype=torch.bool) if new.real is None else new.real
    prefix = None
    if old.prefix is not None or new.prefix is not None:
        before = torch.zeros_like(old.positions, dtype=torch.bool) if old.prefix is None else old.prefix
        now = torch.zeros_like(new.positions, dtype=torch.bool) if new.prefix is None else new.prefix
        prefix = _cat(before, now, max(rows, len(before), len(now)))
    assert old.real is not None
    positions = _cat(old.positions, new.positions, rows)
    return Sequence(positions, _cat(old.real, real, max(rows, len(real))), None, prefix)


def _cat(a: Tensor, b: Tensor, rows: int) -> Tensor:
    return torch.cat([a.expand(rows, -1), b.expand(rows, -1)], 1)
