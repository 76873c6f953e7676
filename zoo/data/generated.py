"""Corpora that are made, not found: each split by itself, with the probability of every word known."""

import hashlib
import json
import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Bool, Float32, Int64, UInt8

from zoo.data.document import Document
from zoo.data.source import Source
from zoo.data.split import SPLITS
from zoo.errors import UserError

END = 0
"""The id of the word that closes a document, and is not written."""


@dataclass(frozen=True)
class Documents:
    """Documents one after the other, each closed by `END`."""

    words: Int64[np.ndarray, "N"]
    floor: Float32[np.ndarray, "N"]
    """−log p of each word under the source, given those before it in its document; 0 for what is determined."""
    skill: UInt8[np.ndarray, "N"]
    distance: Int64[np.ndarray, "N"]
    """How many words back that stands on which this one depends; 0 for what depends on no particular one."""
    offsets: Int64[np.ndarray, "D1"]
    """Document d is words[offsets[d] : offsets[d + 1]]."""

    def part(self, first: int, last: int) -> "Documents":
        """Documents `first` to `last` − 1."""
        a, b = self.offsets[first], self.offsets[last]
        arrays = (self.words[a:b], self.floor[a:b], self.skill[a:b], self.distance[a:b])
        return Documents(*arrays, self.offsets[first : last + 1] - a)

    def only(self, chosen: Bool[np.ndarray, "D"]) -> "Documents":
        """The documents that are chosen."""
        lengths = np.diff(self.offsets)
        keep = np.repeat(chosen, lengths)
        arrays = (self.words[keep], self.floor[keep], self.skill[keep], self.distance[keep])
        return Documents(*arrays, np.concatenate([[0], np.cumsum(lengths[chosen])]))

    def parts(self, words: int) -> Iterator["Documents"]:
        """The same in parts of about that many words."""
        count = len(self.offsets) - 1
        first = 0
        while first < count:
            last = int(np.searchsorted(self.offsets, self.offsets[first] + words))
            last = min(max(last, first + 1), count)
            yield self.part(first, last)
            first = last


@dataclass(frozen=True)
class Line:
    """A score to hold a model against, on the determined words of a skill (on all of them, where none is)."""

    accuracy: float
    nats: float

    @classmethod
    def among(cls, candidates: int) -> "Line":
        """Guessing evenly among so many."""
        return cls(1 / candidates, math.log(candidates))

    @classmethod
    def by_frequency(cls, shares: Sequence[Fraction]) -> "Line":
        """Guessing by how often each candidate is right."""
        return cls(float(max(shares)), -sum(float(p) * math.log(p) for p in shares if p))

    def mixed(self, other: "Line", share: float) -> "Line":
        """That share of the words are of the other kind."""
        mean = [(1 - share) * a + share * b for a, b in ((self.accuracy, other.accuracy), (self.nats, other.nats))]
        return Line(*mean)


class Generated(Source):
    """Contract: the documents of a split are a function of the option and the split, the same in any number of parts;
    no document is made for two splits; `surfaces` says how each word is written, in whole characters, and joined they
    are the text."""

    size_key: ClassVar[str] = "tokens"
    surfaces: Sequence[bytes]
    """What each word is written as; that of `END` is empty."""
    skills: ClassVar[Sequence[str]]
    """The names of the skills, by number."""

    @abstractmethod
    def made(self, split: str, words: int | None = None) -> Iterator[Documents]:
        """The documents of a split, some at a time; or the first ones, that have that many words."""

    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """All that the documents are a function of, but for the sizes of the splits, as plain JSON."""

    def lines(self) -> Mapping[str, Mapping[str, Line]]:
        """What guessing ("chance") and the source itself ("best") score, by skill, where that is known."""
        return {}

    def content(self) -> str:
        """Known without making any of it."""
        return hashlib.sha256(json.dumps(self.identity(), sort_keys=True).encode()).hexdigest()

    def text(self, documents: Documents) -> bytes:
        """What is written there."""
        return b"".join(map(self.surfaces.__getitem__, documents.words.tolist()))

    def pieces(self, split: str, words: int | None = None) -> Iterator[bytes]:
        """The text of `made`."""
        for documents in self.made(split, words):
            yield self.text(documents)

    def documents(self) -> Iterator[Document]:
        """Every document of every split, for those who want nothing but texts."""
        for split in SPLITS:
            for documents in self.made(split):
                for i in range(len(documents.offsets) - 1):
                    text = self.text(documents.part(i, i + 1))
                    yield Document(f"{split} {i}", lambda text=text: [text])  # type: ignore[misc]

    def glossary(self) -> bytes:
        """Every word there is: a tokenizer learns it besides the training split, so that nothing is unknown."""
        return b"".join(self.surfaces)

    def describe(self) -> dict[str, Any]:
        """What it was made by."""
        return {"made_by": self.identity()}


def as_plain(lines: Mapping[str, Mapping[str, Line]]) -> dict[str, dict[str, dict[str, float]]]:
    """Lines as plain JSON."""
    return {skill: {name: asdict(line) for name, line in named.items()} for skill, named in lines.items()}


def check_sizes(tokens: tuple[int, int, int]) -> tuple[int, int, int]:
    """The sizes, unchanged. Raises UserError unless they are ≥ 0 and one is not."""
    if min(tokens) < 0 or not any(tokens):
        raise UserError(
            f"data.tokens={list(tokens)}: the sizes of train, validation and test must be ≥ 0, as in"
            " data.tokens=[1000000,50000,50000]"
        )
    return tokens
