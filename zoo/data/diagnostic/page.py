"""Documents that are written column by column, many at once."""

from typing import Any

import numpy as np

from zoo.data.generated import END, Documents


class Page:
    """A table with a row for each document. `put` adds columns on the right; where `there` is False a row has no word,
    and the next one takes its place."""

    def __init__(self, rows: int):
        self.rows = rows
        self._columns: dict[str, list[np.ndarray]] = {key: [] for key in ("words", "floor", "skill", "since", "there")}

    def put(self, words: Any, *, floor: Any = 0.0, skill: Any = 0, since: Any = -1, there: Any = True) -> None:
        """Columns that broadcast to (rows, columns). `since` is the place in its document, counted in words, of what a
        word depends on; −1 for nothing in particular."""
        parts = np.broadcast_arrays(*(np.atleast_2d(one) for one in (words, floor, skill, since, there)))
        shape = (self.rows, parts[0].shape[1])
        for key, part in zip(self._columns, parts, strict=True):
            self._columns[key].append(np.broadcast_to(part, shape))

    @property
    def length(self) -> np.ndarray:
        """How many words each document has so far: (rows, 1)."""
        there = self._columns["there"]
        return sum((one.sum(1, keepdims=True) for one in there), np.zeros((self.rows, 1), dtype=np.int64))

    def documents(self) -> Documents:
        """The documents, each closed by `END`, which is certain."""
        self.put(END)
        words, floor, skill, since, there = (np.concatenate(one, axis=1) for one in self._columns.values())
        place = np.cumsum(there, axis=1) - 1
        distance = np.where(since < 0, 0, place - since)
        offsets = np.concatenate([[0], np.cumsum(there.sum(1))])
        return Documents(
            words[there].astype(np.int64),
            floor[there].astype(np.float32),
            skill[there].astype(np.uint8),
            distance[there].astype(np.int64),
            offsets,
        )


def one_after_another(*columns: np.ndarray) -> np.ndarray:
    """(rows, n) arrays a and b as a₀ b₀ a₁ b₁ …"""
    return np.stack(np.broadcast_arrays(*columns), axis=2).reshape(len(columns[0]), -1)
