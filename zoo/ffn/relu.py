import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from zoo.common import Common
from zoo.ffn import ffns
from zoo.ffn.dense import Plain


@ffns.register("relu")
class ReLU(Plain):
    """W₂ max(0, W₁ x + b₁) + b₂.

    paper: Vaswani et al. 2017, arXiv:1706.03762, section 3.3
    differs: the biases can be left out.
    """

    def __init__(
        self,
        common: Common,
        *,
        d_ff: int | None = None,
        ratio: float = 4.0,
        multiple_of: int = 4,
        bias: bool | None = None,
    ):
        super().__init__(common, d_ff=d_ff, ratio=ratio, multiple_of=multiple_of, bias=bias)

    def activate(self, x: Float[Tensor, "B T F"]) -> Float[Tensor, "B T F"]:
        return F.relu(x)
