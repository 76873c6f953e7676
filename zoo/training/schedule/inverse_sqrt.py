import math

from zoo.training.schedule import Schedule, schedules


@schedules.register("inverse_sqrt")
class InverseSqrt(Schedule):
    """factor = √(w / u), at update number u = 1, 2, … beyond the warm-up of w updates; 1 at u = w. It has no end.

    paper: Vaswani et al. 2017, arXiv:1706.03762, section 5.3
    differs: normalised to a peak of 1, so `optimizer.lr` is the peak rate: the paper's is d_model^−½ · w^−½. Without a
    warm-up the factor is 1/√u.
    """

    def __init__(self, *, warmup: int | float = 0.1):
        super().__init__(warmup)

    def after(self, step: int, steps: int, warm: int) -> float:
        return math.sqrt(max(warm, 1) / (warm + step + 1))
