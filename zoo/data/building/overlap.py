"""How much of a held-out split stands word for word in train, in constant memory."""

import random
from collections import deque
from collections.abc import Iterable
from typing import Any

from zoo.data.building.division import Division

LONG = 40
"""Shorter lines repeat by chance, so as many of them as have that many bytes together count as one."""
SAMPLE = 100_000
"""The most lines of a held-out split that are looked for."""


def overlap(division: Division) -> dict[str, dict[str, Any]]:
    """For each held-out split: how many lines of at least 40 bytes (see `_line_keys` for shorter ones) were looked for,
    and the share of them (None for no lines) that is a line of train."""
    samples = {name: _sample(division.pieces(name)) for name in division.names if name != "train"}
    wanted = set().union(*samples.values())
    found = {key for key in _line_keys(division.pieces("train")) if key in wanted} if wanted else set()
    return {
        name: {
            "lines": len(sample),
            "in_train": sum(key in found for key in sample),
            "share": sum(key in found for key in sample) / len(sample) if sample else None,
        }
        for name, sample in samples.items()
    }


def _line_keys(pieces: Iterable[bytes]) -> Iterable[int]:
    """A hash of each long line, and of each passage of short ones: a line with so many of the next, but for blank ones,
    that they are long together. Passages begin at every line, so it does not matter where they lie in train."""
    passage, size = deque[bytes](), 0
    for line in (line for piece in pieces for line in piece.splitlines() if line.strip()):
        if len(line) >= LONG:
            passage.clear()
            size = 0
        passage.append(line)
        size += len(line)
        while size >= LONG:
            yield hash(b"\n".join(passage))
            size -= len(passage.popleft())


def _sample(pieces: Iterable[bytes]) -> list[int]:
    """An even sample of all long lines, the same each time (reservoir sampling)."""
    draw, sample = random.Random(0), list[int]()
    for i, key in enumerate(_line_keys(pieces)):
        if i < SAMPLE:
            sample.append(key)
        elif (place := draw.randrange(i + 1)) < SAMPLE:
            sample[place] = key
    return sample
