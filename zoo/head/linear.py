from jaxtyping import Float
from torch import Tensor

from zoo.common import Common
from zoo.head import Head, heads
from zoo.roles import Linear, Role


@heads.register("linear")
class LinearHead(Head):
    """logits = W x (+ b).

    paper: Vaswani et al. 2017, arXiv:1706.03762, section 3.4
    differs: nothing; no bias by default, as in the models since GPT-2.
    """

    def __init__(self, common: Common, vocabulary: int, *, bias: bool = False):
        super().__init__(common, vocabulary)
        self.out = Linear(common.d_model, vocabulary, bias=bias, role=Role.HEAD)

    def forward(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B T V"]:
        return self.out(x)
