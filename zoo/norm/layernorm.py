import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from zoo.norm import Norm, checked, norms


@norms.register("layernorm")
class LayerNorm(Norm):
    """y = g · (x − mean(x)) / √(var(x) + eps) + b, over the last axis; var is the biased variance.

    paper: Ba, Kiros & Hinton 2016, arXiv:1607.06450
    differs: eps stands inside the root, as in every library since; the paper has none.
    """

    def __init__(self, width: int, *, eps: float = 1e-5, bias: bool = True):
        super().__init__(width)
        self.eps = checked(eps)
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width)) if bias else None

    def forward(self, x: Float[Tensor, "*shape width"]) -> Float[Tensor, "*shape width"]:
        bias = None if self.bias is None else self.bias.float()
        return F.layer_norm(x.float(), (self.width,), self.weight.float(), bias, self.eps).to(x.dtype)
