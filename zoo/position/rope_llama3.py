from math import pi
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from zoo.common import Common
from zoo.errors import HERE, PartError
from zoo.position import positions
from zoo.position.rotary import Rotary, checked


@positions.register("rope_llama3")
class Llama3RoPE(Rotary):
    """`rope` in which slow pairs turn `factor` times slower, fast ones as ever, and those between in part. A pair whose
    wave goes n = trained · f / 2π times into the trained length turns by

        f · (s + (1 − s) / factor),   s = (n − low) / (high − low), cut to 0 … 1.

    paper: Grattafiori et al. 2024, arXiv:2407.21783, section 3.4.2; the formula: its published code
    differs: nothing.
    """

    def __init__(
        self,
        common: Common,
        *,
        trained: int,
        factor: float = 8.0,
        low: float = 1.0,
        high: float = 4.0,
        base: float = 10000.0,
        fraction: float = 1.0,
        layout: Literal["half", "interleaved"] = "half",
    ):
        super().__init__(common, base=base, fraction=fraction, layout=layout)
        if not high > low:
            raise PartError(f"{HERE}.high={high} must be above {HERE}.low={low}")
        self.factor, self.trained = checked(factor, trained), trained
        self.low, self.high = low, high

    def frequencies(self, width: int, device: torch.device) -> Float[Tensor, " pairs"]:
        full = super().frequencies(width, device)
        kept = ((self.trained * full / (2 * pi) - self.low) / (self.high - self.low)).clamp(0, 1)
        return full * (kept + (1 - kept) / self.factor)
