"""Generated documents in the tokens of a tokenizer, and what is known of each token."""

import re

import numpy as np
from jaxtyping import Int64, Shaped

from zoo.data.building.encoding import Encoding
from zoo.data.generated import END, Documents
from zoo.errors import UserError

FIRST_WORD = re.compile(rb" ?(\w+|.)")


class Tokens:
    """Document d is ids[offsets[d] : offsets[d + 1]]; those of a text are closed by the end mark, pairs are not. Raises
    UserError where the tokenizer lacks a word, and where a token would be of two documents."""

    ids: Int64[np.ndarray, "N"]
    offsets: Int64[np.ndarray, "D1"]
    bytes: int
    """The size of the text."""

    def __init__(self, documents: Documents, encoding: Encoding):
        self._documents, self._widths = documents, encoding.widths[documents.words]
        ids = encoding.ids(documents)
        self._lengths = encoding.tokenizer.byte_lengths[ids]
        if len(ids) and self._lengths.min() < 0:
            raise UserError(_lacking(documents, self._lengths, encoding))
        self.bytes = int(self._widths.sum())
        self._starts = np.cumsum(self._lengths) - self._lengths
        self._borders = self._cut()
        self._marked = encoding.source.parts == 1
        self.ids = self._closed(ids, encoding.tokenizer.special.end)
        self.offsets = np.concatenate([[0], self._borders])
        if self._marked:
            self.offsets += np.arange(len(self.offsets))

    def notes(self) -> dict[str, Shaped[np.ndarray, "N"]]:
        """By token. `floor`: that of a word stands on the token in which the word begins, all other tokens have 0.
        `skill`: that of the word in which a token begins. `distance`: the same, in words. `width`: how many tokens the
        word has that begins there; 0 inside a word. Words that begin in one token are taken for one, and so is an end
        mark."""
        made, last = self._documents, self._documents.offsets[1:] - 1
        written = np.flatnonzero(made.words != END)
        word_starts = (np.cumsum(self._widths) - self._widths)[written]
        owner = np.searchsorted(self._starts, word_starts, side="right") - 1
        floor = np.bincount(owner, weights=made.floor[written], minlength=len(self._starts))
        word = written[np.searchsorted(word_starts, self._starts, side="right") - 1]
        width, begins = np.zeros(len(floor), dtype=np.int64), owner[np.diff(owner, prepend=-1) > 0]
        width[begins] = np.diff(begins, append=len(floor))
        return {
            "floor": self._closed(floor, made.floor[last]).astype(np.float32),
            "skill": self._closed(made.skill[word], made.skill[last]),
            "distance": self._closed(made.distance[word], made.distance[last]),
            "width": self._closed(width, 1),
        }

    def _cut(self) -> np.ndarray:
        """Before which token each document ends."""
        ends = np.cumsum(self._widths)[self._documents.offsets[1:] - 1]
        borders = np.searchsorted(self._starts, ends)
        if not np.array_equal(np.append(self._starts, self.bytes)[borders], ends):
            raise UserError("a token of this tokenizer reaches from one document into the next; use another tokenizer")
        return borders

    def _closed(self, each: np.ndarray, end: np.ndarray | int) -> np.ndarray:
        """With that of the end marks."""
        return np.insert(each, self._borders, end) if self._marked else each


def _lacking(documents: Documents, lengths: np.ndarray, encoding: Encoding) -> str:
    source, name = encoding.source, encoding.tokenizer.name
    known = int(lengths[: int(np.argmax(lengths < 0))].sum())
    found = FIRST_WORD.match(source.text(documents), known)
    word = found[0].decode(errors="replace").strip() if found else ""
    return (
        f"tokenizer={name} does not know '{word}', so the floor of this language is not that of its tokens;"
        f" set tokenizer.vocabulary higher ({len(source.surfaces)} is enough), or give a trained run data that it knows"
    )
