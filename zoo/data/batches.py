"""Batches: pure functions of (data, seed, index). Nothing is remembered between them, so nothing has to be restored."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from jaxtyping import Int64, UInt64

from zoo.data.batch import Batch
from zoo.data.corpus import Corpus
from zoo.data.permutation import epoch_keys, permute
from zoo.data.rows import PairRows, Rows, Windows
from zoo.data.whole import Whole
from zoo.errors import UserError

AT_ONCE = 1 << 16
"""So many rows are sorted by their length at once."""
AHEAD = 1 << 12
"""So many places of the training order are worked out at once: one by one they would take half of a batch's time."""

ROWS: dict[str, type[Windows] | type[Whole] | type[PairRows]] = {
    "windows": Windows,
    "whole": Whole,
    "pairs": PairRows,
}
"""By what a corpus is cut into."""


class Loader:
    """The batches of one split. `length` and `overlap` are the objective's windows of a text; pairs go by `context`,
    the most positions that the model may see. Raises UserError for a split that is too short."""

    def __init__(self, corpus: Corpus, split: str, length: int, overlap: int, batch_size: int, context: int):
        if batch_size < 1:
            raise UserError(f"budget.batch_size={batch_size} must be at least 1")
        self.batch_size = batch_size
        self.rows: Rows = ROWS[corpus.rows](corpus.split(split), length, overlap, context)
        self._ahead = max(1, AHEAD // batch_size)
        self._order = lru_cache(maxsize=1)(self._draw_order)

    def train_batch(self, index: int, seed: int) -> Batch:
        """Training batch number `index`. With accumulation A, micro-batch m of step s is number s·A + m.

        Every epoch takes each row once, in an order of its own; batches run on across the border of epochs."""
        stretch, place = divmod(index, self._ahead)
        here = slice(place * self.batch_size, (place + 1) * self.batch_size)
        rows, keys = self._order(stretch, seed)
        return self.rows.train(rows[here], keys[here])

    def _draw_order(self, stretch: int, seed: int) -> tuple[Int64[np.ndarray, "N"], UInt64[np.ndarray, "N"]]:
        """The rows of that many batches, and the key of the epoch of each."""
        length = self._ahead * self.batch_size
        number = np.arange(stretch * length, (stretch + 1) * length, dtype=np.int64)
        size = self.rows.training
        keys = epoch_keys(seed, number // size)
        return permute(number % size, size, keys), keys

    def evaluation(self, batches: int | None = None) -> Iterator[Batch]:
        """Every row once, in order; or as many as fill that many batches, evenly spread. Which rows they are does not
        depend on how they fall into batches."""
        rows = self._rows(batches)
        for start in range(0, len(rows), self.batch_size):
            yield self.rows.evaluate(rows[start : start + self.batch_size])

    def scoring(self, positions: int, batches: int | None = None) -> Iterator[tuple[np.ndarray, Batch]]:
        """The same rows in batches of up to that many positions, rows of like length together, so that fewer batches
        with less padding score as much; with each batch the places that its rows have in `evaluation`."""
        rows = self._rows(batches)
        for first in range(0, len(rows), AT_ONCE):
            lengths = self.rows.lengths(rows[first : first + AT_ONCE])
            order = np.argsort(lengths, kind="stable")
            start = 0
            while start < len(order):
                longest = lengths[order[start : start + positions]]
                fits = int((longest * np.arange(1, len(longest) + 1) <= positions).sum())
                places = first + order[start : start + max(fits, 1)]
                yield places, self.rows.evaluate(rows[places])
                start += len(places)

    def _rows(self, batches: int | None) -> np.ndarray:
        """Which rows an evaluation takes."""
        size = self.rows.evaluation
        count = size if batches is None else min(size, batches * self.batch_size)
        return np.arange(count, dtype=np.int64) * size // max(count, 1)

    @property
    def batches_per_epoch(self) -> float:
        """How many training batches take each row once."""
        return self.rows.training / self.batch_size

    @property
    def tokens_per_epoch(self) -> int:
        """How many tokens an epoch of training has, each counted once."""
        return self.rows.tokens

    def summary(self) -> dict[str, Any]:
        """Facts for the record of a run: rows, tokens of an epoch, pairs that were dropped."""
        return {"tokens_per_epoch": self.tokens_per_epoch, **self.rows.summary()}
