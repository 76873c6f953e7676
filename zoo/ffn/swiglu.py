import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from zoo.common import Common
from zoo.ffn import ffns
from zoo.ffn.dense import Gated


@ffns.register("swiglu")
class SwiGLU(Gated):
    """W₂ (silu(W_g x) · W₁ x),  silu(x) = x σ(x).

    paper: Shazeer 2020, arXiv:2002.05202
    differs: ratio 8/3 makes it as large as a plain FFN of ratio 4, to rounding; biases are possible.
    """

    def __init__(
        self,
        common: Common,
        *,
        d_ff: int | None = None,
        ratio: float = 8 / 3,
        multiple_of: int = 4,
        bias: bool | None = None,
    ):
        super().__init__(common, d_ff=d_ff, ratio=ratio, multiple_of=multiple_of, bias=bias)

    def activate(self, x: Float[Tensor, "B T F"]) -> Float[Tensor, "B T F"]:
        return F.silu(x)
