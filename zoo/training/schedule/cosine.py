import math

from zoo.training.schedule import Schedule, check_floor, schedules, share_of_way


@schedules.register("cosine")
class Cosine(Schedule):
    """factor = floor + (1 − floor) · ½(1 + cos πp);  p = 0 at the first update after the warm-up, 1 at the last one.

    paper: Loshchilov & Hutter 2017, arXiv:1608.03983
    differs: one half wave, no restarts; the floor is a share of the peak.
    """

    def __init__(self, *, warmup: int | float = 0.1, floor: float = 0.1):
        super().__init__(warmup)
        check_floor(floor)
        self.floor = floor

    def after(self, step: int, steps: int, warm: int) -> float:
        return self.floor + (1 - self.floor) * (1 + math.cos(math.pi * share_of_way(step, steps))) / 2
