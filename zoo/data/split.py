"""Which part of a corpus is train, validation and test: decided before a tokenizer sees any of it."""

import numpy as np
from jaxtyping import Int8, Int64, UInt64

from zoo.errors import UserError

SPLITS = ("train", "validation", "test")


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
    keys: UInt64[np.ndarray, "N"], sizes: Int64[np.ndarray, "N"], shares: tuple[float, float, float]
) -> Int8[np.ndarray, "N"]:
    """The split (0, 1, 2) of each record; records of one key go together, records of size 0 get −1.

    From the largest key to the smallest, each goes to the split that is fullest last, measured in its own share: close
    to the shares in bytes, every size of document in every split, and independent of the order of the records. Raises
    UserError when a split that has a share would stay empty."""
    some = sizes > 0
    groups, group_of = np.unique(keys[some], return_inverse=True)
    weights = np.bincount(group_of, weights=sizes[some], minlength=len(groups)).astype(np.int64)
    wanted = [i for i, share in enumerate(shares) if share > 0]
    if len(groups) < len(wanted):
        raise UserError(
            f"the corpus has {len(groups)} different documents, too few for data.split={list(shares)};"
            " join them into one file, or set a share to 0"
        )
    fill, members = [0] * len(shares), [0] * len(shares)
    chosen = np.empty(len(groups), dtype=np.int8)
    order = np.lexsort((groups, -weights))
    for group, weight in zip(order.tolist(), weights[order].tolist(), strict=True):
        best = min(wanted, key=lambda i: (fill[i] + weight) / shares[i])
        fill[best] += weight
        members[best] += 1
        chosen[group] = best
    donor = int(np.argmax(members))
    for empty in [i for i in wanted if not members[i]]:
        chosen[order[np.flatnonzero(chosen[order] == donor)[-1]]] = empty  # its smallest
    labels = np.full(len(keys), -1, dtype=np.int8)
    labels[some] = chosen[group_of]
    return labels
