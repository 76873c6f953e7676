"""How the learning rate moves: a pure function of the update's number."""

from abc import ABC, abstractmethod

from zoo.errors import UserError
from zoo.registry import Registry


class Schedule(ABC):
    """Contract: `factor(step, steps)` is what update number `step` multiplies the learning rate with; step counts from
    0 and the last update is steps − 1. With w = warmup, or warmup · steps where that is a share below 1:

        factor = (step + 1) / w                 for step < w: no update has rate 0, and update w − 1 has the peak, 1
        factor = after(step − w, steps − w)     from then on; it reaches its end, if it has one, on the last update
    """

    def __init__(self, warmup: int | float):
        if warmup < 0 or (warmup != int(warmup) and warmup > 1):
            raise UserError(f"schedule.warmup={warmup} must be a number of updates, or a share of them below 1")
        self.warmup = warmup

    def warm(self, steps: int) -> int:
        """w, the updates of the warm-up of a run of that many."""
        return int(self.warmup) if self.warmup >= 1 else round(self.warmup * steps)

    def factor(self, step: int, steps: int) -> float:
        """The factor in [0, 1] used by that update. Raises UserError when the warm-up fills the whole run."""
        warm = self.warm(steps)
        if warm >= steps:
            raise UserError(
                f"schedule.warmup={self.warmup} must be below budget.steps={steps}: set it lower, or to a share of the"
                " steps such as schedule.warmup=0.1"
            )
        if step < warm:
            return (step + 1) / warm
        return self.after(step - warm, steps - warm, warm)

    @abstractmethod
    def after(self, step: int, steps: int, warm: int) -> float:
        """The factor of update `step` of the `steps` that follow a warm-up of `warm`."""


def share_of_way(step: int, steps: int) -> float:
    """p = step / (steps − 1): 0 at the first, 1 at the last of `steps` updates; 1 when there is only one."""
    return step / (steps - 1) if steps > 1 else 1.0


def check_floor(floor: float) -> None:
    """Refuse a floor that is no share of the peak."""
    if not 0 <= floor <= 1:
        raise UserError(f"schedule.floor={floor} must lie between 0 and 1: it is the share of optimizer.lr that stays")


schedules: Registry[Schedule] = Registry("schedule", Schedule, __name__)
