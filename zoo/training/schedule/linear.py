from zoo.training.schedule import Schedule, check_floor, schedules, share_of_way


@schedules.register("linear")
class Linear(Schedule):
    """factor = floor + (1 − floor) · (1 − p);  p = 0 at the first update after the warm-up, 1 at the last one.

    paper: Devlin et al. 2019 (BERT), arXiv:1810.04805; to zero: Bergsma et al. 2025, arXiv:2502.15938
    differs: the last update has the floor itself, even where that is 0.
    """

    def __init__(self, *, warmup: int | float = 0.1, floor: float = 0.0):
        super().__init__(warmup)
        check_floor(floor)
        self.floor = floor

    def after(self, step: int, steps: int, warm: int) -> float:
        return self.floor + (1 - self.floor) * (1 - share_of_way(step, steps))
