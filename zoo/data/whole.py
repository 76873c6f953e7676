"""Rows of whole documents, for corpora whose documents are examples that must not be cut."""

from typing import Any

import numpy as np
import torch

from zoo.data.batch import TextBatch
from zoo.data.building.store import Split
from zoo.data.rows import Rows, notes_of
from zoo.errors import UserError


class Whole(Rows):
    """As many consecutive documents as fit into `length` tokens make a row, right-padded; documents that are longer are
    dropped and counted. An epoch moves nothing."""

    def __init__(self, split: Split, length: int, overlap: int, context: int):
        self.split, self.length, self.context = split, length, context
        lengths = np.diff(split.offsets)
        fits = lengths <= length
        self.dropped = int((~fits).sum())
        if not fits.any():
            raise UserError(
                f"no document of the {split.name} split fits a context of {context}: the shortest has"
                f" {int(lengths.min())} tokens; set budget.context={int(lengths.min())} or higher"
            )
        self.starts, self.stops = _packed(split.offsets, fits, min(length, len(split.tokens)))
        self.tokens = int(lengths[fits].sum())

    @property
    def training(self) -> int:
        """The rows."""
        return len(self.starts)

    @property
    def evaluation(self) -> int:
        """The rows."""
        return len(self.starts)

    @property
    def longest(self) -> int:
        """Those of all documents in one row."""
        return len(self.split.tokens) - (self.length - self.context)

    def train(self, rows: np.ndarray, keys: np.ndarray) -> TextBatch:
        """The same as in evaluation, without notes."""
        return self._gather(rows, False)

    def evaluate(self, rows: np.ndarray) -> TextBatch:
        """(B, length) tokens, right-padded."""
        return self._gather(rows, True)

    def summary(self) -> dict[str, Any]:
        """With the number of documents that were too long."""
        return {**super().summary(), "documents_dropped": self.dropped}

    def _gather(self, rows: np.ndarray, noted: bool) -> TextBatch:
        starts, stops = self.starts[rows, None], self.stops[rows, None]
        places = starts + np.arange(self.length)
        real = torch.from_numpy(places < stops)
        places = np.minimum(places, stops - 1)
        tokens = torch.from_numpy(self.split.tokens[places].astype(np.int64)) * real
        documents = torch.from_numpy(np.searchsorted(self.split.offsets, places, side="right") - 1)
        notes = notes_of(self.split.notes, places, real) if noted and self.split.notes is not None else None
        return TextBatch(tokens, real, documents, notes)


def _packed(offsets: np.ndarray, fits: np.ndarray, length: int) -> tuple[np.ndarray, np.ndarray]:
    """Where each row starts and stops."""
    count = len(fits)
    too_long = np.append(np.flatnonzero(~fits), count)
    starts, stops, first = [], [], 0
    while first < count:
        barrier = int(too_long[np.searchsorted(too_long, first)])
        last = min(int(np.searchsorted(offsets, offsets[first] + length, side="right")) - 1, barrier)
        if last > first:
            starts.append(offsets[first])
            stops.append(offsets[last])
        first = last if last > first else first + 1
    return np.array(starts, dtype=np.int64), np.array(stops, dtype=np.int64)
