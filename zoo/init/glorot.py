import torch
from torch import Tensor, nn

from zoo.init import Init, inits
from zoo.roles import TABLES, Role


@inits.register("glorot")
class TruncatedGlorot(Init):
    """w ~ N(0, 2 / (in + out)), cut at ± 3 standard deviations; tables ~ N(0, 1 / D), cut likewise.

    paper: Glorot & Bengio 2010, "Understanding the difficulty of training deep feedforward neural networks"
    differs: normal and truncated where the paper is uniform; tables go by their width, since V says nothing about the
        size of a looked-up row.
    """

    def fill(self, weight: Tensor, role: Role, residuals: int, generator: torch.Generator) -> None:
        outputs, inputs = weight.shape[-2:]
        std = inputs**-0.5 if role in TABLES else (2 / (inputs + outputs)) ** 0.5
        nn.init.trunc_normal_(weight, std=std, a=-3 * std, b=3 * std, generator=generator)
