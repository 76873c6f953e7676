"""One id for each byte value."""

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Int64

from zoo.data.tokenizer import Tokenizer, tokenizers

VALUES = [bytes([value]) for value in range(256)]


@tokenizers.register("bytes")
class Bytes(Tokenizer):
    """id = byte. Nothing to learn, nothing unknown, any file.

    paper: Xue et al. 2021, arXiv:2105.13626
    differs: the id of a byte is its value; the marks come after the bytes, where the paper has them first.
    """

    needs_utf8: ClassVar[bool] = False

    def train(self, texts: Iterable[bytes]) -> None:
        """Learns nothing."""

    def encode(self, data: bytes) -> Int64[np.ndarray, "T"]:
        """The byte values."""
        return np.frombuffer(data, dtype=np.uint8).astype(np.int64)

    def ends_between(self, left: str, right: str) -> bool:
        """Always."""
        return True

    @property
    def texts(self) -> list[bytes]:
        """The 256 bytes."""
        return VALUES

    def state(self) -> dict[str, Any]:
        """Nothing."""
        return {}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "Bytes":
        """Always the same."""
        return cls()
