"""Sorting more rows than memory holds: runs are sorted one by one, written to disk, and merged when they are read."""

from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import IO
from weakref import finalize

import numpy as np

from zoo.data.scratch import scratch_file

AT_ONCE = 1 << 16
"""About how many rows are held in memory."""
ROW = np.dtype([("key", "<u8"), ("number", "<i8"), ("size", "<i8")])


class Sorter:
    """Rows by key, then by number; no two rows have both the same. Rows that fit into memory never touch the disk."""

    def __init__(self, room: Path):
        self._room = room
        self._file: IO[bytes] | None = None
        self._waiting = array("Q"), array("q"), array("q")
        self._borders = [0]

    def __len__(self) -> int:
        return self._borders[-1] + len(self._waiting[0])

    def add(self, key: int, number: int, size: int) -> None:
        """One more row. Raises OSError when there is no room."""
        for column, value in zip(self._waiting, (key, number, size), strict=True):
            column.append(value)
        if len(self._waiting[0]) >= AT_ONCE:
            self._write()

    def chunks(self) -> Iterator[np.ndarray]:
        """All rows in order, some at a time; as often as they are asked for."""
        if self._file is None:
            return iter([self._run()] if len(self) else [])
        if self._waiting[0]:
            self._write()
        rows = np.asarray(np.memmap(self._file, dtype=ROW, mode="r", shape=(len(self),)))
        return _merged([rows[a:b] for a, b in zip(self._borders, self._borders[1:], strict=False)])

    def _run(self) -> np.ndarray:
        """What waits, in order."""
        rows = np.empty(len(self._waiting[0]), dtype=ROW)
        for name, column in zip(ROW.names or (), self._waiting, strict=True):
            rows[name] = column
        return _in_order(rows)

    def _write(self) -> None:
        """What waits becomes one run on disk."""
        if self._file is None:
            self._file = scratch_file(self._room)
            finalize(self, self._file.close)
        self._file.write(self._run().tobytes())
        self._file.flush()
        self._borders.append(len(self))
        self._waiting = array("Q"), array("q"), array("q")


def _in_order(rows: np.ndarray) -> np.ndarray:
    return rows[np.lexsort((rows["number"], rows["key"]))]


def _merged(runs: list[np.ndarray]) -> Iterator[np.ndarray]:
    """The beginnings of all runs together, as far as no unread row can come before; then the next ones."""
    block = max(1, AT_ONCE // len(runs))
    places = [0] * len(runs)
    while any(place < len(run) for place, run in zip(places, runs, strict=True)):
        heads = [run[place : place + block] for place, run in zip(places, runs, strict=True)]
        unfinished = [head for head, place, run in zip(heads, places, runs, strict=True) if place + block < len(run)]
        if unfinished:
            last = min((int(head["key"][-1]), int(head["number"][-1])) for head in unfinished)
            heads = [head[: _up_to(head, *last)] for head in heads]
        yield _in_order(np.concatenate(heads))
        places = [place + len(head) for place, head in zip(places, heads, strict=True)]


def _up_to(rows: np.ndarray, key: int, number: int) -> int:
    """How many of the rows, which are in order, do not come after that one."""
    first, last = (int(np.searchsorted(rows["key"], np.uint64(key), side)) for side in ("left", "right"))
    return first + int(np.searchsorted(rows["number"][first:last], number, "right"))
