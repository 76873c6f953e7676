import math
from typing import Literal

from zoo.errors import UserError
from zoo.training.schedule import Schedule, check_floor, schedules


@schedules.register("wsd")
class WSD(Schedule):
    """Warm-up, stable, decay: factor = 1, then floor + (1 − floor) · c(q) over the last n = round(decay · steps)
    updates; q = 1/n, 2/n, …, 1;  c(q) = 1 − q (linear) or 1 − √q (sqrt). `steps` here does not count the warm-up.

    paper: Hu et al. 2024 (MiniCPM), arXiv:2404.06395; the 1 − √q cooldown: Hägele et al. 2024, arXiv:2405.18392
    differs: MiniCPM decays exponentially; the shapes here are those that Hägele et al. found best.
    """

    def __init__(
        self,
        *,
        warmup: int | float = 0.1,
        decay: float = 0.2,
        shape: Literal["linear", "sqrt"] = "sqrt",
        floor: float = 0.0,
    ):
        super().__init__(warmup)
        check_floor(floor)
        if not 0 < decay <= 1:
            raise UserError(f"schedule.decay={decay} must be above 0 and at most 1: it is a share of the updates")
        self.decay = decay
        self.shape = shape
        self.floor = floor

    def after(self, step: int, steps: int, warm: int) -> float:
        last = max(1, round(self.decay * steps))
        q = max(0, step + 1 - (steps - last)) / last
        return self.floor + (1 - self.floor) * (1 - (math.sqrt(q) if self.shape == "sqrt" else q))
