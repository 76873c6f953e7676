"""How tokens enter the model."""

from abc import abstractmethod
from typing import Literal

from jaxtyping import Float, Int
from torch import Tensor, nn

from zoo.common import Common
from zoo.part import Part
from zoo.registry import Registry

Tie = Literal["none", "output", "all"]
"""Which tables are one: none; the output projection and the table it predicts for; in an encoder–decoder also the
source's table ("all", as in 2017)."""


class Embedding(Part):
    """Contract: `Embedding(common, vocabulary)`; `weight` (V, D) is the table, which the head may share; a scale acts
    on the way in only."""

    weight: nn.Parameter
    tie: Tie

    def __init__(self, common: Common, vocabulary: int):
        super().__init__()

    @abstractmethod
    def forward(self, tokens: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        """The vectors of the tokens, before a position is added."""

    @abstractmethod
    def close(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B T D"]:
        """What happens after the position is added and before the first layer."""


embeddings: Registry[Embedding] = Registry("embedding", Embedding, __name__)
