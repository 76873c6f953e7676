"""Which part of a corpus is train, validation and test: decided before a tokenizer sees any of it."""

from collections import deque
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from jaxtyping import Int8, Int64

from zoo.data.scratch import scratch_array
from zoo.data.sorting import AT_ONCE, Sorter
from zoo.errors import UserError

SPLITS = ("train", "validation", "test")
LARGEST = (1 << 63) - 1
"""Of sizes."""


def check_shares(shares: tuple[float, float, float]) -> tuple[float, float, float]:
    """The shares of train, validation and test, unchanged. Raises UserError unless they are ≥ 0 and sum to 1."""
    if not (all(share >= 0 for share in shares) and abs(sum(shares) - 1) <= 1e-6):
        raise UserError(
            f"data.split={list(shares)}: the shares of train, validation and test must each be ≥ 0 and sum to 1,"
            " as in data.split=[0.8,0.1,0.1]"
        )
    return shares


def blocks(size: int, shares: tuple[float, float, float]) -> list[int]:
    """The four borders of contiguous blocks of `size` bytes; a share of 0 is an empty block, the last other share
    takes what rounding leaves."""
    borders = [0]
    for i in range(len(shares)):
        last = not any(shares[i + 1 :])
        borders.append(size if last else int(size * sum(shares[: i + 1]) + 1e-6))
    return borders


def assign(
    records: Sorter, count: int, shares: tuple[float, float, float], room: Path
) -> tuple[Int8[np.ndarray, "N"], int]:
    """The split (0, 1, 2) of each of `count` records, by its number, and how many different keys there are; records of
    one key go together, a number that no record has gets −1.

    From the largest key to the smallest, each goes to the split that is fullest last, measured in its own share: close
    to the shares in bytes, every size of document in every split, and independent of the order of the records. Raises
    UserError when a split that has a share would stay empty. All that grows with the records is on disk, in `room`."""
    sizes = scratch_array(room, np.int64, len(records))
    groups = 0
    for rows, group in _grouped(records):
        found = np.bincount(group - group[0], weights=rows["size"]).astype(np.int64)
        sizes[group[0] : group[0] + len(found)] += found
        groups = int(group[-1]) + 1
    if groups < sum(share > 0 for share in shares):
        raise UserError(
            f"the corpus has {groups} different documents, too few for data.split={list(shares)};"
            " join them into one file, or set a share to 0"
        )
    chosen = _fill(sizes[:groups], shares, room)
    labels = scratch_array(room, np.int8, count)
    labels[:] = -1
    for rows, group in _grouped(records):
        labels[rows["number"]] = chosen[group]
    return labels, groups


def _grouped(records: Sorter) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The records by key, some at a time, each with the number of its key."""
    before, groups = -1, 0
    for rows in records.chunks():
        keys = rows["key"]
        group = groups - 1 + np.cumsum(np.append(int(keys[0]) != before, keys[1:] != keys[:-1]))
        before, groups = int(keys[-1]), int(group[-1]) + 1
        yield rows, group


def _fill(sizes: Int64[np.ndarray, "G"], shares: tuple[float, float, float], room: Path) -> Int8[np.ndarray, "G"]:
    """The split of each key; equal sizes go by the order of the keys."""
    order = Sorter(room)
    for start in range(0, len(sizes), AT_ONCE):
        for number, size in enumerate(sizes[start : start + AT_ONCE].tolist(), start):
            order.add(LARGEST - size, number, size)
    wanted = [i for i, share in enumerate(shares) if share > 0]
    fill, members = [0] * len(shares), [0] * len(shares)
    smallest = [deque[int](maxlen=len(shares) - 1) for _ in shares]
    chosen = scratch_array(room, np.int8, len(sizes))
    for rows in order.chunks():
        labels = []
        for number, size in zip(rows["number"].tolist(), rows["size"].tolist(), strict=True):
            best = min(wanted, key=lambda i: (fill[i] + size) / shares[i])
            fill[best] += size
            members[best] += 1
            smallest[best].append(number)
            labels.append(best)
        chosen[rows["number"]] = labels
    donor = int(np.argmax(members))
    for empty in [i for i in wanted if not members[i]]:
        chosen[smallest[donor].pop()] = empty
    return chosen
