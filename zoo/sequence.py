"""What is known of each position of a row. One polarity everywhere: True means real, may be seen."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Int
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Sequence:
    """The positions of each row. None stands for: all real, one document, no prefix. R is B, or 1 where
    all rows are alike.

    positions: the place of a token in its document, from 0; explicit and per row, so that left padding, packing and
        states cannot disagree
    real: False for padding
    documents: a number per document packed into the row; no document sees another, and one that comes back is a new one
    prefix: True for tokens that every token of their document may see, also earlier ones (prefix-LM)
    past: whether no position stands after any query, as when one token goes on; then nothing need be hidden for order
    """

    positions: Int[Tensor, "R T"]
    real: Bool[Tensor, "B T"] | None = None
    documents: Int[Tensor, "B T"] | None = None
    prefix: Bool[Tensor, "B T"] | None = None
    past: bool = False

    @classmethod
    def of(
        cls,
        tokens: Int[Tensor, "B T"],
        real: Bool[Tensor, "B T"] | None = None,
        documents: Int[Tensor, "B T"] | None = None,
        prefix: Bool[Tensor, "B T"] | None = None,
    ) -> "Sequence":
        """Number the real tokens of each document from 0; padding gets the place of the token before it, or 0."""
        length = tokens.shape[1]
        if real is None and documents is None:
            return cls(torch.arange(length, device=tokens.device)[None], None, None, prefix)
        counts = torch.ones_like(tokens) if real is None else real.long()
        places = counts.cumsum(1) - 1
        if documents is not None:
            opens = torch.ones_like(documents, dtype=torch.bool)
            opens[:, 1:] = documents[:, 1:] != documents[:, :-1]
            before = (places - counts + 1).masked_fill(~opens, 0)  # real tokens before the document that is open here
            places = places - before.cummax(1).values
            documents = opens.cumsum(1)
        return cls(places.clamp(min=0), real, documents, prefix)
