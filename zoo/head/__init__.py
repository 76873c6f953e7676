"""How hidden states become logits."""

from abc import abstractmethod

from jaxtyping import Float
from torch import Tensor

from zoo.common import Common
from zoo.part import Part
from zoo.registry import Registry
from zoo.roles import Linear


class Head(Part):
    """Contract: `Head(common, vocabulary)`; `out` is the last projection, whose weight (V, D) a table may share.
    It takes every position by itself and draws nothing, so that it can be given some of them; the last of its
    operations does not need its own result for the backward pass."""

    out: Linear

    def __init__(self, common: Common, vocabulary: int):
        super().__init__()

    @abstractmethod
    def forward(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B T V"]: ...


heads: Registry[Head] = Registry("head", Head, __name__)
