import torch
from jaxtyping import Float
from torch import Tensor

from zoo.common import Common
from zoo.errors import HERE, PartError
from zoo.position import Position, positions
from zoo.sequence import Sequence


@positions.register("sinusoidal")
class Sinusoidal(Position):
    """x + PE;  PE[t, 2i] = sin(t / base^(2i/D)),  PE[t, 2i+1] = cos(t / base^(2i/D)).

    paper: Vaswani et al. 2017, arXiv:1706.03762, section 3.5
    differs: an odd width D has one sine more than cosines.
    """

    def __init__(self, common: Common, *, base: float = 10000.0):
        super().__init__(common)
        if not base > 0:
            raise PartError(f"{HERE}.base={base} must be above 0")
        self.width = common.d_model
        self.base = base

    def embed(self, x: Float[Tensor, "B T D"], sequence: Sequence) -> Float[Tensor, "B T D"]:
        even = torch.arange(0, self.width, 2, device=x.device)
        frequencies = self.base ** (-even.double() / self.width)
        angles = sequence.positions[..., None] * frequencies.float()
        waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)[..., : self.width]
        return x + waves.to(x.dtype)
