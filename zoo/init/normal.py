import torch
from torch import Tensor, nn

from zoo.errors import UserError
from zoo.init import Init, inits
from zoo.roles import Role


@inits.register("normal")
class Normal(Init):
    """w ~ N(0, std²) for every matrix and table; projections into the residual stream get std / √(2 L) if
    `scale_residual`, so that the stream of L layers does not grow with depth.

    paper: Radford et al. 2019 (GPT-2), section 2.3
    differs: GPT-2 scales by 1/√N, N the number of residual layers: two for each of our L.
    """

    def __init__(self, *, std: float = 0.02, scale_residual: bool = False):
        if std <= 0:
            raise UserError(f"model.init.std={std} must be above 0")
        self.std = std
        self.scale_residual = scale_residual

    def fill(self, weight: Tensor, role: Role, n_layers: int, generator: torch.Generator) -> None:
        scaled = self.scale_residual and role is Role.RESIDUAL
        nn.init.normal_(weight, std=self.std / (2 * n_layers) ** 0.5 if scaled else self.std, generator=generator)
