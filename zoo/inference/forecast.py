"""What a step says of the next token."""

from typing import NamedTuple

from jaxtyping import Float, Int
from torch import Tensor


class Forecast(NamedTuple):
    """logits: of the next token of each row
    best: the token with the largest
    total: the sum of all, which is a finite number where each of them is, or nearly always so

    A compiled program computes them together.
    """

    logits: Float[Tensor, "B V"]
    best: Int[Tensor, " B"]
    total: Float[Tensor, ""]

    @classmethod
    def of(cls, logits: Float[Tensor, "B V"]) -> "Forecast":
        """Those of these logits."""
        return cls(logits, logits.max(-1).indices, logits.sum())  # sooner than argmax
