"""Generated documents in the tokens of a tokenizer, and what is known of each token."""

import re
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32, Int64, UInt8

from zoo.data.generated import END, Documents, Generated
from zoo.data.tokenizer import Tokenizer
from zoo.errors import UserError

FIRST_WORD = re.compile(rb" ?(\w+|.)")


@dataclass(frozen=True)
class Tokens:
    """Document d is ids[offsets[d] : offsets[d + 1]]; those of a text are closed by the end mark."""

    ids: Int64[np.ndarray, "N"]
    offsets: Int64[np.ndarray, "D1"]
    floor: Float32[np.ndarray, "N"]
    """That of a word stands on the token in which the word begins, all other tokens have 0."""
    skill: UInt8[np.ndarray, "N"]
    """That of the word in which a token begins."""
    distance: Int64[np.ndarray, "N"]
    """The same, in words."""
    width: Int64[np.ndarray, "N"]
    """How many tokens the word has that begins there; 0 inside a word. Words that begin in one token are taken for one,
    and so is an end mark."""


def tokenize(text: bytes, documents: Documents, source: Generated, tokenizer: Tokenizer) -> Tokens:
    """The documents, whose text that is, in the tokens of a tokenizer. Raises UserError where it lacks a word."""
    ids = tokenizer.encode(text)
    lengths = tokenizer.byte_lengths[ids]
    if len(lengths) and lengths.min() < 0:
        raise UserError(_lacking(text, lengths, source, tokenizer))
    written = np.flatnonzero(documents.words != END)
    widths = np.array([len(one) for one in source.surfaces])[documents.words]
    word_starts = (np.cumsum(widths) - widths)[written]
    token_starts = np.cumsum(lengths) - lengths
    owner = np.searchsorted(token_starts, word_starts, side="right") - 1
    floor = np.bincount(owner, weights=documents.floor[written], minlength=len(ids))
    word = written[np.searchsorted(word_starts, token_starts, side="right") - 1]
    width, begins = np.zeros(len(ids), dtype=np.int64), np.unique(owner)
    width[begins] = np.diff(begins, append=len(ids))
    made = (ids, floor, documents.skill[word], documents.distance[word], width)
    return _closed(made, _borders(documents, widths, token_starts, len(text)), documents, source, tokenizer)


def _lacking(text: bytes, lengths: np.ndarray, source: Generated, tokenizer: Tokenizer) -> str:
    known = int(lengths[: int(np.argmax(lengths < 0))].sum())
    found = FIRST_WORD.match(text, known)
    word = found[0].decode(errors="replace").strip() if found else ""
    return (
        f"tokenizer={tokenizer.name} does not know '{word}', so the floor of this language is not that of its tokens;"
        f" set tokenizer.vocabulary higher ({len(source.surfaces)} is enough), or give a trained run data that it knows"
    )


def _borders(documents: Documents, widths: np.ndarray, token_starts: np.ndarray, size: int) -> np.ndarray:
    """Before which token each document ends."""
    ends = np.cumsum(widths)[documents.offsets[1:] - 1]
    borders = np.searchsorted(token_starts, ends)
    if not np.array_equal(np.append(token_starts, size)[borders], ends):
        raise UserError("a token of this tokenizer reaches from one document into the next; use another tokenizer")
    return borders


def _closed(
    made: tuple[np.ndarray, ...], borders: np.ndarray, documents: Documents, source: Generated, tokenizer: Tokenizer
) -> Tokens:
    """With the end marks, which pairs do not have."""
    offsets = np.concatenate([[0], borders])
    if source.parts == 1:
        last = documents.offsets[1:] - 1
        ends = (tokenizer.special.end, documents.floor[last], documents.skill[last], documents.distance[last], 1)
        made = tuple(np.insert(one, borders, end) for one, end in zip(made, ends, strict=True))
        offsets = offsets + np.arange(len(offsets))
    ids, floor, skill, distance, width = made
    return Tokens(ids, offsets, floor.astype(np.float32), skill, distance, width)
