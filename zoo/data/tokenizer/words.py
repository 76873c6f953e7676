"""One id for each word."""

import re
from collections import Counter
from collections.abc import Iterable
from itertools import repeat
from typing import Any

import numpy as np
from jaxtyping import Int64

from zoo.data.tokenizer import Tokenizer, refuse_vocabulary, tokenizers, utf8
from zoo.errors import UserError

WORD = re.compile(r" ?[^\W\d_]+| ?\d+|.", re.DOTALL)
"""A run of letters or of digits, with the space before it, or any other single character: together all of the text."""


@tokenizers.register("words")
class Words(Tokenizer):
    """The `vocabulary` most frequent words of the training split, by frequency, then by the alphabet; one more id for
    every other word, which decodes to U+FFFD and whose length in bytes is not known.

    paper: none
    """

    whole_words = True
    takes_space = True

    def __init__(self, *, vocabulary: int = 16384):
        if vocabulary < 1:
            raise UserError(f"tokenizer.vocabulary={vocabulary}: words needs at least 1")
        refuse_vocabulary(vocabulary)
        self.asked = vocabulary
        self._set([])

    def train(self, texts: Iterable[bytes]) -> None:
        """Counts the words."""
        found: Counter[str] = Counter()
        for text in texts:
            found.update(WORD.findall(utf8(text)))
        if not found:
            raise UserError("tokenizer=words has no text to learn from; give train a share in data.split")
        self._set(sorted(found, key=lambda word: (-found[word], word))[: self.asked])

    def encode(self, data: bytes) -> Int64[np.ndarray, "T"]:
        """The place of each word in the list, or the id of the unknown."""
        found = WORD.findall(utf8(data))
        return np.fromiter(map(self._ids.get, found, repeat(self.unknown)), dtype=np.int64, count=len(found))

    def ends_between(self, left: str, right: str) -> bool:
        """Unless both are letters, both are digits, or a space stands before either."""
        return len(WORD.findall(left + right)) == 2

    @property
    def unknown(self) -> int:
        """The id of every word that is not in the list."""
        return len(self._words)

    @property
    def texts(self) -> list[bytes]:
        """The words in UTF-8, then the replacement mark."""
        return self._texts

    def state(self) -> dict[str, Any]:
        """The vocabulary asked for, and the words."""
        return {"vocabulary": self.asked, "words": self._words}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "Words":
        """With those words."""
        tokenizer = cls(vocabulary=state["vocabulary"])
        tokenizer._set([str(word) for word in state["words"]])
        return tokenizer

    def _set(self, words: list[str]) -> None:
        if len(set(words)) < len(words):
            raise ValueError("it has a word twice")
        self._words, self._ids = words, {word: i for i, word in enumerate(words)}
        self._texts = [word.encode("utf-8") for word in words] + ["\ufffd".encode()]
        lengths = [len(text) for text in self._texts[:-1]]
        self.byte_lengths = np.array([*lengths, -1, 0, 0, 0], dtype=np.int64)
