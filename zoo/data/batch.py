"""What data hands to an objective: windows of text, or source–target pairs. True always means a real token."""

from dataclasses import dataclass

from jaxtyping import Bool, Int
from torch import Tensor


@dataclass(frozen=True)
class TextBatch:
    """Windows of a token stream. `real` is None when no position is padding; `documents` numbers the document of each
    position, and is None when the corpus is one document."""

    tokens: Int[Tensor, "B T"]
    real: Bool[Tensor, "B T"] | None = None
    documents: Int[Tensor, "B T"] | None = None


@dataclass(frozen=True)
class PairBatch:
    """Source and target texts, right-padded to a common length each, without start and end marks."""

    source: Int[Tensor, "B S"]
    source_real: Bool[Tensor, "B S"]
    target: Int[Tensor, "B T"]
    target_real: Bool[Tensor, "B T"]


Batch = TextBatch | PairBatch
