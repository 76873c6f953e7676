from zoo.training.schedule import Schedule, schedules


@schedules.register("constant")
class Constant(Schedule):
    """factor = 1 after the warm-up.

    paper: none
    """

    def __init__(self, *, warmup: int | float = 0.1):
        super().__init__(warmup)

    def after(self, step: int, steps: int, warm: int) -> float:
        return 1.0
