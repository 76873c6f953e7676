"""What a model remembers of the positions that it has read."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from zoo.errors import UserError
from zoo.sequence import Sequence


class History:
    """Place, reality and prefix of every position so far, the same for all layers.

    Places go on per row: the next real token of a row stands one after its last real one, so rows of different lengths
    may lie in one batch, padded on either side.
    """

    growing: ClassVar[Mapping[str, int]] = MappingProxyType({"positions": 1, "real": 1, "prefix": 1})

    def __init__(self, rows: int, capacity: int, device: torch.device):
        self.positions: Int[Tensor, "B C"] = torch.zeros(rows, capacity, dtype=torch.long, device=device)
        self.real: Bool[Tensor, "B C"] = torch.zeros(rows, capacity, dtype=torch.bool, device=device)
        self.prefix: Bool[Tensor, "B C"] = torch.zeros(rows, capacity, dtype=torch.bool, device=device)
        self.counts: Int[Tensor, " B"] = torch.zeros(rows, dtype=torch.long, device=device)
        self.length = self.reached = 0
        self.padded = self.prefixed = False

    @property
    def capacity(self) -> int:
        """The most positions there is room for."""
        return self.positions.shape[1]

    def furthest(self) -> int:
        """The most real positions that a row has; where no row was padded, no value has to be fetched."""
        return int(self.counts.max()) if self.padded else self.length

    def extend(self, sequence: Sequence) -> tuple[Sequence, Sequence]:
        """Take in the next positions; returns (queries, keys): these, and all so far. Raises UserError when they do
        not fit."""
        rows, length = len(self.positions), sequence.positions.shape[1]
        if self.length + length > self.capacity:
            raise UserError(
                f"{self.length} positions are kept and {length} more do not fit into a state made for {self.capacity};"
                " make it larger: model.start(rows, capacity)"
            )
        new = slice(self.length, self.length + length)
        self.positions[:, new] = sequence.positions + self.counts[:, None]
        self.real[:, new] = True if sequence.real is None else sequence.real
        if sequence.prefix is not None:
            self.prefix[:, new] = sequence.prefix
        self.counts += length if sequence.real is None else sequence.real.sum(1)
        self.padded |= sequence.real is not None
        self.prefixed |= sequence.prefix is not None
        self.length += length
        self.reached = max(self.reached, self.length)
        return self._view(new, rows), self._view(slice(0, self.length), rows, past=length == 1)

    def advance(self, count: int) -> None:
        """That many positions more were written into its tensors."""
        self.length += count
        self.reached = max(self.reached, self.length)

    def truncate(self, length: int) -> None:
        """Forget all but the first `length` positions."""
        self.length = length
        self.prefix[:, length:] = False
        self.counts.copy_(self.real[:, :length].sum(1))

    def _view(self, part: slice, rows: int, past: bool = False) -> Sequence:
        """That part of the history; rows that are alike stay one row."""
        alike = 1 if not self.padded else rows
        return Sequence(
            self.positions[:alike, part],
            self.real[:, part] if self.padded else None,
            None,
            self.prefix[:, part] if self.prefixed else None,
            past,
        )
