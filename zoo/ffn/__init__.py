"""Per-position mixing: every position by itself, dense or through experts."""

from abc import abstractmethod

from jaxtyping import Float
from torch import Tensor

from zoo.common import Common, Part
from zoo.context import Context
from zoo.registry import Registry

Auxiliary = dict[str, Tensor]
"""Named losses beside the main one, each a scalar already multiplied by its coefficient."""


class FFN(Part):
    """Contract: `FFN(common)`; no position sees another. Losses of its own are returned, never left in attributes."""

    def __init__(self, common: Common):
        super().__init__()

    @abstractmethod
    def forward(self, x: Float[Tensor, "B T D"], context: Context) -> tuple[Float[Tensor, "B T D"], Auxiliary]: ...


ffns: Registry[FFN] = Registry("ffn", FFN, __name__)
