import torch
from torch import Tensor, nn

from zoo.init import Init, inits
from zoo.roles import TABLES, Role


@inits.register("xavier")
class Xavier(Init):
    """w ~ U(−a, a), a = √(6 / (in + out)); tables ~ N(0, 1 / D), which the scale √D of 2017 brings to unit size.

    paper: Glorot & Bengio 2010; Vaswani et al. 2017, arXiv:1706.03762 (in tensor2tensor, not in the text)
    differs: nothing; q, k and v are separate matrices, each with its own fan.
    """

    def fill(self, weight: Tensor, role: Role, residuals: int, generator: torch.Generator) -> None:
        outputs, inputs = weight.shape[-2:]
        if role in TABLES:
            nn.init.normal_(weight, std=inputs**-0.5, generator=generator)
        else:
            bound = (6 / (inputs + outputs)) ** 0.5
            nn.init.uniform_(weight, -bound, bound, generator=generator)
