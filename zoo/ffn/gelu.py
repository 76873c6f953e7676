from typing import Literal

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from zoo.common import Common
from zoo.ffn import ffns
from zoo.ffn.dense import Plain


@ffns.register("gelu")
class GELU(Plain):
    """W₂ gelu(W₁ x + b₁) + b₂,  gelu(x) = x Φ(x), Φ the normal distribution function.

    approximate: `tanh` is the approximation that GPT-2 was trained with, `none` is exact (BERT)

    paper: Hendrycks & Gimpel 2016, arXiv:1606.08415
    differs: the biases can be left out.
    """

    def __init__(
        self,
        common: Common,
        *,
        approximate: Literal["none", "tanh"] = "none",
        d_ff: int | None = None,
        ratio: float = 4.0,
        multiple_of: int = 4,
        bias: bool | None = None,
    ):
        super().__init__(common, d_ff=d_ff, ratio=ratio, multiple_of=multiple_of, bias=bias)
        self.approximate = approximate

    def activate(self, x: Float[Tensor, "B T F"]) -> Float[Tensor, "B T F"]:
        return F.gelu(x, approximate=self.approximate)
