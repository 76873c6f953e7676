from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from zoo.common import Common
from zoo.position import positions
from zoo.position.rotary import Rotary, checked


@positions.register("rope_linear")
class LinearRoPE(Rotary):
    """`rope` with places squeezed together: the i-th pair turns by t / factor · base^(−2i/R), so that a text `factor`
    times as long as trained has angles that were trained (position interpolation).

    paper: Chen et al. 2023, arXiv:2306.15595
    differs: nothing.
    """

    def __init__(
        self,
        common: Common,
        *,
        factor: float = 4.0,
        base: float = 10000.0,
        fraction: float = 1.0,
        layout: Literal["half", "interleaved"] = "half",
    ):
        super().__init__(common, base=base, fraction=fraction, layout=layout)
        self.factor = checked(factor)

    def frequencies(self, width: int, device: torch.device) -> Float[Tensor, " pairs"]:
        return super().frequencies(width, device) / self.factor
