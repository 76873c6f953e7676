"""What stands for the tokenizer of a published folder, which is none of ours."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from jaxtyping import Int64

from zoo.data.tokenizer import Tokenizer
from zoo.errors import UserError


class Unknown(Tokenizer):
    """Knows how many ids there are, and nothing else."""

    def __init__(self, vocabulary: int):
        self.ids = vocabulary

    @property
    def vocabulary(self) -> int:
        """How many ids the model has."""
        return self.ids

    @property
    def name(self) -> str:
        """Refused: it is none that is registered."""
        return str(self._refuse())

    def train(self, texts: Iterable[bytes]) -> None:
        """Refused."""
        self._refuse()

    def encode(self, data: bytes) -> Int64[np.ndarray, "T"]:
        """Refused."""
        return self._refuse()

    @property
    def texts(self) -> list[bytes]:
        """Refused."""
        return self._refuse()

    def state(self) -> dict[str, Any]:
        """Refused."""
        return self._refuse()

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "Unknown":
        """Refused: it is never saved."""
        raise UserError("no tokenizer was saved")

    def _refuse(self) -> Any:
        raise UserError("this model came without a tokenizer of the zoo: give it ids, as in run.model(tokens)")
