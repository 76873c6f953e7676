"""The rows that batches are made of: windows of a token stream, or pairs."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from jaxtyping import Int64, UInt64

from zoo.data.batch import Batch, Notes, PairBatch, TextBatch
from zoo.data.building.store import Split
from zoo.data.kept import Kept
from zoo.data.permutation import draw
from zoo.errors import UserError


class Rows(ABC):
    """Contract: a row is found by its number alone, so batches are pure functions of row numbers."""

    tokens: int
    """How many tokens the training rows have, each counted once: an epoch."""
    context: int
    """The most positions that a row may have in a model."""

    @property
    @abstractmethod
    def training(self) -> int:
        """How many rows an epoch has. Raises UserError when there is none to train on."""

    @property
    @abstractmethod
    def evaluation(self) -> int:
        """How many rows score everything once."""

    @property
    @abstractmethod
    def longest(self) -> int:
        """The most positions that a row can fill: a longer context changes nothing but padding."""

    @abstractmethod
    def train(self, rows: Int64[np.ndarray, "B"], keys: UInt64[np.ndarray, "B"]) -> Batch:
        """Training rows; the key of a row's epoch may move it."""

    @abstractmethod
    def evaluate(self, rows: Int64[np.ndarray, "B"]) -> Batch:
        """Evaluation rows."""

    def lengths(self, rows: Int64[np.ndarray, "B"]) -> Int64[np.ndarray, "B"]:
        """How many positions each evaluation row needs: a batch is as wide as its longest."""
        return np.full(len(rows), self.context, dtype=np.int64)

    def summary(self) -> dict[str, Any]:
        """Facts for the record of a run."""
        return {"evaluation_rows": self.evaluation}


class Windows(Rows):
    """Windows of `length` tokens; consecutive ones share `overlap` tokens. In training only whole windows, all moved by
    the epoch's phase as far as the tokens left over allow; in evaluation the last one is padded."""

    def __init__(self, split: Split, length: int, overlap: int, context: int):
        self.split, self.length, self.overlap, self.context = split, length, overlap, context
        self.stride = length - overlap
        size = len(split.tokens)
        if size < 2:
            raise UserError(
                f"the {split.name} split has {size} token, and nothing to predict; use more text, or give it a larger"
                " share in data.split"
            )
        self._whole = max(0, (size - overlap) // self.stride)
        self._slack = size - overlap - self._whole * self.stride
        self.tokens = self._whole * self.stride

    @property
    def training(self) -> int:
        """The whole windows."""
        if not self._whole:
            size = len(self.split.tokens)
            fits = size - (self.length - self.context)
            advice = f"set budget.context={fits} or less, or use more text" if fits > 0 else "use more text"
            raise UserError(
                f"the {self.split.name} split has {size} tokens, but one window of context {self.context} needs"
                f" {self.length}; {advice}"
            )
        return self._whole

    @property
    def evaluation(self) -> int:
        """The whole windows, and one for what is left over."""
        return max(1, self._whole + (self._slack > 0))

    @property
    def longest(self) -> int:
        """Those of the whole split in one window."""
        return len(self.split.tokens) - (self.length - self.context)

    def train(self, rows: Int64[np.ndarray, "B"], keys: UInt64[np.ndarray, "B"]) -> TextBatch:
        """(B, length) tokens, nothing padded."""
        return self._gather(rows * self.stride + draw(keys, self._slack + 1))

    def evaluate(self, rows: Int64[np.ndarray, "B"]) -> TextBatch:
        """(B, length) tokens, the last row of all right-padded."""
        return self._gather(rows * self.stride, self.split.notes)

    def _gather(self, starts: np.ndarray, notes: Mapping[str, np.ndarray] | None = None) -> TextBatch:
        places = starts[:, None] + np.arange(self.length)
        last = len(self.split.tokens) - 1
        real = None
        if places[:, -1].max() > last:
            real = torch.from_numpy(places <= last)
            places = np.minimum(places, last)
        tokens = torch.from_numpy(self.split.tokens[places].astype(np.int64))
        documents = None
        if self.split.several:
            found = np.searchsorted(self.split.offsets, places, side="right") - 1
            documents = torch.from_numpy(found.astype(np.int64))
        noted = None if notes is None else notes_of(notes, places, real)
        return TextBatch(tokens if real is None else tokens * real, real, documents, noted)


class PairRows(Rows):
    """Pairs that fit a context with a start and an end mark; the others are dropped and counted."""

    def __init__(self, split: Split, length: int, overlap: int, context: int):
        self.split, self.context = split, context
        self.kept = Kept(split.offsets, context - 2)
        self.tokens = self.kept.tokens
        if not len(self.kept):
            raise UserError(
                f"no pair of the {split.name} split fits a context of {context}: the shortest has"
                f" {self.kept.shortest} tokens and 2 marks; set budget.context higher"
            )

    @property
    def training(self) -> int:
        """The pairs that fit."""
        return len(self.kept)

    @property
    def evaluation(self) -> int:
        """The pairs that fit."""
        return len(self.kept)

    @property
    def longest(self) -> int:
        """Those of the longest pair and its marks."""
        return self.kept.longest + 2

    def train(self, rows: Int64[np.ndarray, "B"], keys: UInt64[np.ndarray, "B"]) -> PairBatch:
        """The same as in evaluation, without notes: a pair cannot be moved."""
        return self._pairs(rows, None)

    def evaluate(self, rows: Int64[np.ndarray, "B"]) -> PairBatch:
        """Sources and targets, each right-padded to a common length."""
        return self._pairs(rows, self.split.notes)

    def lengths(self, rows: Int64[np.ndarray, "B"]) -> Int64[np.ndarray, "B"]:
        """Source, target and two marks."""
        pairs = self.kept.at(rows)
        return self.split.offsets[2 * pairs + 2] - self.split.offsets[2 * pairs] + 2

    def summary(self) -> dict[str, Any]:
        """With the number of pairs that were too long."""
        return {**super().summary(), "pairs_dropped": self.kept.dropped}

    def _pairs(self, rows: np.ndarray, notes: Mapping[str, np.ndarray] | None) -> PairBatch:
        pairs = self.kept.at(rows)
        source, source_real, _ = self._gather(2 * pairs)
        target, target_real, places = self._gather(2 * pairs + 1)
        noted = None if notes is None else notes_of(notes, places, target_real)
        return PairBatch(source, source_real, target, target_real, noted)

    def _gather(self, documents: np.ndarray) -> tuple[torch.Tensor, torch.Tensor, np.ndarray]:
        starts, stops = self.split.offsets[documents], self.split.offsets[documents + 1]
        longest = int((stops - starts).max())
        width = min(-(-longest // 8) * 8, max(longest, self.context - 2))  # few shapes, yet none above the context
        places = starts[:, None] + np.arange(width)
        real = places < stops[:, None]
        places = np.where(real, places, starts[:, None])
        tokens = self.split.tokens[places].astype(np.int64)
        return torch.from_numpy(tokens * real), torch.from_numpy(real), places


def notes_of(notes: Mapping[str, np.ndarray], places: np.ndarray, real: torch.Tensor | None) -> Notes:
    """The notes of those places. Where nothing is real all is 0, but for the width: a mark may take that place."""
    floor = torch.from_numpy(notes["floor"][places])
    skill, distance, width = (
        torch.from_numpy(notes[key][places].astype(np.int64)) for key in ("skill", "distance", "width")
    )
    if real is None:
        return Notes(floor, skill, distance, width)
    return Notes(floor * real, skill * real, distance * real, width.where(real, 1))
