"""The best possible loss on a generated corpus: what its source itself would score."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from zoo.data.building.encoding import Encoding
from zoo.data.building.store import Split
from zoo.data.building.tokens import Tokens
from zoo.data.floor.tally import Tally
from zoo.data.generated import END, Documents, Generated
from zoo.data.tokenizer import Tokenizer
from zoo.errors import UserError

AT_ONCE = 1 << 16
"""Words that are tokenized together."""


@dataclass(frozen=True)
class Part:
    """The tokens of one skill, or of one distance."""

    tokens: int
    nats: float
    """−log p under the source, for each token."""
    words: int
    """How many words begin there."""
    determined: int
    """How many of these are certain: 0 nats."""


@dataclass(frozen=True)
class Floor:
    """The floor of a split. Tokens are those of a tokenizer, end marks included; without one they are words."""

    tokens: int
    nats: float
    """Per token: the best possible loss."""
    words: int
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


def floor_of_source(source: Generated, split: str, tokenizer: Tokenizer | None = None) -> Floor:
    """The floor of a split for each token, or without a tokenizer for each word, made anew; nothing is stored. Raises
    UserError for a tokenizer that lacks a word."""
    tally, size = Tally(source.skills), 0
    sizes = np.array([len(one) for one in source.surfaces]) if tokenizer is None else tokenizer.byte_lengths
    encoding = None if tokenizer is None else Encoding(source, tokenizer)
    for documents in (part for made in source.made(split) for part in made.parts(AT_ONCE)):
        if encoding is None:
            ids, offsets, notes = _words(documents, source)
        else:
            tokens = Tokens(documents, encoding)
            ids, offsets, notes = tokens.ids, tokens.offsets, tokens.notes()
        size += _add(tally, notes, ids, sizes, _scored(offsets, source.parts))
    return _floor(tally, size, f"the {split} split")


def floor_of_split(split: Split, tokenizer: Tokenizer, skills: Sequence[str], parts: int = 1) -> Floor:
    """The floor of a stored split for each of its tokens. `parts` is 2 for pairs: only targets count. Raises UserError
    for a split whose probabilities are not known."""
    if split.notes is None:
        raise UserError(f"the floor of the {split.name} split is not stored; held-out splits of data=toy have one")
    tally, scored = Tally(skills), _scored(split.offsets, parts)
    size = _add(tally, split.notes, split.tokens, tokenizer.byte_lengths, scored)
    return _floor(tally, size, f"the {split.name} split")


def _words(documents: Documents, source: Generated) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Each word as a token: ids, offsets and notes, as in `Tokens`; pairs have no end marks."""
    kept = (documents.words != END) | (source.parts == 1)
    offsets = np.concatenate([[0], np.cumsum(kept)])[documents.offsets]
    notes = {key: getattr(documents, key)[kept] for key in ("floor", "skill", "distance")}
    return documents.words[kept], offsets, {**notes, "width": np.ones(int(kept.sum()), dtype=np.int64)}


def _scored(offsets: np.ndarray, parts: int) -> np.ndarray:
    """Which tokens are predicted: all of a text, the targets of pairs."""
    last = np.arange(len(offsets) - 1) % parts == parts - 1
    return np.repeat(last, np.diff(offsets))


def _add(tally: Tally, notes: Mapping[str, np.ndarray], ids: np.ndarray, sizes: np.ndarray, scored: np.ndarray) -> int:
    """Count the scored tokens; returns their bytes."""
    nats, size = notes["floor"][scored].astype(np.float64), sizes[ids[scored]]
    words = notes["width"][scored] > 0
    tally.add(
        notes["skill"][scored].astype(np.int64),
        notes["distance"][scored].astype(np.int64),
        tokens=np.ones(len(nats)),
        floor=nats,
        text=nats * (size > 0),
        words=words.astype(np.float64),
        determined=(words & (nats == 0)).astype(np.float64),
    )
    return int(size.sum())


def _floor(tally: Tally, size: int, what: str) -> Floor:
    if not tally.sums or not tally.total("tokens"):
        raise UserError(f"{what} is empty; give it a size in data.tokens")
    keys = ("tokens", "floor", "words", "determined")
    skills = _parts(*(tally.by_skill(key) for key in keys))
    distances = {name: _parts(*(tally.by_distance(name, key) for key in keys)) for name in skills}
    tokens = tally.total("tokens")
    return Floor(
        tokens=int(tokens),
        nats=tally.total("floor") / tokens,
        words=int(tally.total("words")),
        determined=int(tally.total("determined")),
        bytes=size,
        bits_per_byte=tally.total("text") / size / math.log(2),
        skills=skills,
        distances=distances,
    )


def _parts(tokens: dict[str, float], floor: dict[str, float], *counts: dict[str, float]) -> dict[str, Part]:
    return {key: Part(int(n), floor[key] / n, *(int(one[key]) for one in counts)) for key, n in tokens.items()}
