"""One id for each character."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from jaxtyping import Int64

from zoo.data.tokenizer import Tokenizer, tokenizers, utf8
from zoo.errors import UserError


@tokenizers.register("chars")
class Chars(Tokenizer):
    """The characters (code points) of the training split, sorted; one more id for every other character, which
    decodes to U+FFFD and whose length in bytes is not known.

    paper: none
    """

    def __init__(self) -> None:
        self._set(np.empty(0, dtype=np.uint32))

    def train(self, texts: Iterable[bytes]) -> None:
        """Collects the characters."""
        found: set[str] = set()
        for text in texts:
            found.update(utf8(text))
        if not found:
            raise UserError("tokenizer=chars has no text to learn from; give train a share in data.split")
        self._set(np.array(sorted(map(ord, found)), dtype=np.uint32))

    def encode(self, data: bytes) -> Int64[np.ndarray, "T"]:
        """The place of each character in the alphabet, or the id of the unknown."""
        points = np.frombuffer(utf8(data).encode("utf-32-le"), dtype="<u4")
        places = np.searchsorted(self._alphabet, points)
        known = self._alphabet.take(places, mode="clip") == points if len(self._alphabet) else False
        return np.where(known, places, self.unknown).astype(np.int64)

    def ends_between(self, left: str, right: str) -> bool:
        """Always."""
        return True

    @property
    def unknown(self) -> int:
        """The id of every character that was not in the training split."""
        return len(self._alphabet)

    @property
    def texts(self) -> list[bytes]:
        """The characters in UTF-8, then the replacement mark."""
        return self._texts

    def state(self) -> dict[str, Any]:
        """The alphabet."""
        return {"characters": "".join(map(chr, self._alphabet.tolist()))}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "Chars":
        """With that alphabet."""
        tokenizer = cls()
        tokenizer._set(np.array([ord(character) for character in state["characters"]], dtype=np.uint32))
        return tokenizer

    def _set(self, alphabet: np.ndarray) -> None:
        if np.any(alphabet[1:] <= alphabet[:-1]):
            raise ValueError("its characters are not sorted")
        self._alphabet = alphabet
        self._texts = [chr(point).encode("utf-8") for point in alphabet.tolist()] + ["\ufffd".encode()]
        lengths = [len(text) for text in self._texts[:-1]]
        self.byte_lengths = np.array([*lengths, -1, 0, 0, 0], dtype=np.int64)
