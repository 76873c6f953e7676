import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from zoo.common import Common
from zoo.head import Head, heads
from zoo.roles import Linear, Role


@heads.register("transform")
class TransformHead(Head):
    """logits = W norm(gelu(W_t x + b_t)) + b: one more layer before the vocabulary.

    paper: Devlin et al. 2018, arXiv:1810.04805 (in the code of BERT, not in the text)
    differs: nothing.
    """

    def __init__(self, common: Common, vocabulary: int, *, bias: bool = True):
        super().__init__(common, vocabulary)
        self.transform = Linear(common.d_model, common.d_model, bias=bias)
        self.norm = common.norm(common.d_model)
        self.out = Linear(common.d_model, vocabulary, bias=bias, role=Role.HEAD)

    def forward(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B T V"]:
        return self.out(self.norm(F.gelu(self.transform(x))))
