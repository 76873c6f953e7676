import torch
from torch import Tensor, nn

from zoo.errors import HERE, PartError
from zoo.init import Init, inits
from zoo.roles import Role


@inits.register("normal")
class Normal(Init):
    """w ~ N(0, std²) for every matrix and table; projections into the residual stream get std / √N if
    `scale_residual`, so that a stream that is written to N times does not grow with depth.

    paper: Radford et al. 2019 (GPT-2), section 2.3
    differs: nothing; N is 2 for each layer, 3 where a layer has a cross-mixer.
    """

    def __init__(self, *, std: float = 0.02, scale_residual: bool = False):
        if std <= 0:
            raise PartError(f"{HERE}.std={std} must be above 0")
        self.std = std
        self.scale_residual = scale_residual

    def fill(self, weight: Tensor, role: Role, residuals: int, generator: torch.Generator) -> None:
        scaled = self.scale_residual and role is Role.RESIDUAL
        nn.init.normal_(weight, std=self.std / residuals**0.5 if scaled else self.std, generator=generator)
