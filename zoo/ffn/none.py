import torch
from jaxtyping import Float
from torch import Tensor

from zoo.context import Context
from zoo.ffn import FFN, Auxiliary, ffns


@ffns.register("none")
class NoFFN(FFN):
    """0: layers consist of their mixer alone.

    paper: Gu & Dao 2023, arXiv:2312.00752, section 3.4 (layers of one sublayer)
    differs: nothing; a mixer made for such layers has its own gate and widening.
    """

    absent = True

    def forward(self, x: Float[Tensor, "B T D"], context: Context) -> tuple[Float[Tensor, "B T D"], Auxiliary]:
        return torch.zeros_like(x), {}
