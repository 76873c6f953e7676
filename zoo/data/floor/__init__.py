"""The best possible loss on a generated corpus: what its source itself would score."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from zoo.data.building.store import Split
from zoo.data.floor.tally import Tally
from zoo.data.generated import END, Generated
from zoo.data.tokenizer import Tokenizer
from zoo.errors import UserError


@dataclass(frozen=True)
class Part:
    """The tokens of one skill, or of one distance."""

    tokens: int
    nats: float
    """−log p under the source, for each token."""
    determined: int
    """How many of them are certain; 0 nats. Only of words: a token inside a word is always certain."""


@dataclass(frozen=True)
class Floor:
    """The floor of a split. Tokens are those of a tokenizer, end marks included; without one they are words."""

    tokens: int
    nats: float
    """Per token: the best possible loss."""
    determined: int
    bytes: int
    bits_per_byte: float
    """Without end marks, which have no bytes."""
    skills: dict[str, Part]
    distances: dict[str, dict[str, Part]]
    """By skill, then by how many words back that stands on which a token depends."""

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON."""
        return asdict(self)


def floor_of_source(source: Generated, split: str) -> Floor:
    """The floor of a split for each word, made anew; nothing is read or stored."""
    tally, size = Tally(source.skills), 0
    widths = np.array([len(one) for one in source.surfaces])
    for documents in source.made(split):
        scored = _scored(documents.offsets, source.parts)
        words = documents.words[scored]
        size += int(widths[words].sum())
        if source.parts > 1:  # pairs have no end marks
            scored[documents.words == END] = False
        _add(tally, documents.skill, documents.distance, documents.floor, documents.words != END, scored)
    return _floor(tally, size, f"the {split} split")


def floor_of_split(split: Split, tokenizer: Tokenizer, skills: Sequence[str], parts: int = 1) -> Floor:
    """The floor of a stored split for each of its tokens. `parts` is 2 for pairs: only targets count. Raises UserError
    for a split whose probabilities are not known."""
    if split.notes is None:
        raise UserError(f"the floor of the {split.name} split is not stored; held-out splits of data=toy have one")
    tally, scored = Tally(skills), _scored(split.offsets, parts)
    text = split.tokens != tokenizer.special.end
    _add(tally, split.notes["skill"], split.notes["distance"], split.notes["floor"], text, scored)
    size = int(tokenizer.byte_lengths[split.tokens[scored]].sum())
    return _floor(tally, size, f"the {split.name} split")


def _scored(offsets: np.ndarray, parts: int) -> np.ndarray:
    """Which tokens are predicted: all of a text, the targets of pairs."""
    last = np.arange(len(offsets) - 1) % parts == parts - 1
    return np.repeat(last, np.diff(offsets))


def _add(
    tally: Tally, skill: np.ndarray, distance: np.ndarray, floor: np.ndarray, text: np.ndarray, scored: np.ndarray
) -> None:
    nats = floor[scored].astype(np.float64)
    tally.add(
        skill[scored].astype(np.int64),
        distance[scored].astype(np.int64),
        tokens=np.ones(len(nats)),
        floor=nats,
        text=nats * text[scored],
        determined=(nats == 0).astype(np.float64),
    )


def _floor(tally: Tally, size: int, what: str) -> Floor:
    if not tally.sums or not tally.total("tokens"):
        raise UserError(f"{what} is empty; give it a size in data.tokens")
    keys = ("tokens", "floor", "determined")
    skills = _parts(*(tally.by_skill(key) for key in keys))
    distances = {name: _parts(*(tally.by_distance(name, key) for key in keys)) for name in skills}
    tokens = tally.total("tokens")
    return Floor(
        tokens=int(tokens),
        nats=tally.total("floor") / tokens,
        determined=int(tally.total("determined")),
        bytes=size,
        bits_per_byte=tally.total("text") / size / math.log(2),
        skills=skills,
        distances=distances,
    )


def _parts(tokens: dict[str, float], floor: dict[str, float], determined: dict[str, float]) -> dict[str, Part]:
    return {key: Part(int(n), floor[key] / n, int(determined[key])) for key, n in tokens.items()}
