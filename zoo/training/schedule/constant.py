from zoo.training.schedule import Schedule, schedules


@schedules.register("constant")
class Constant(Schedule):
    """factor = 1 after the warm-up."""

    def __init__(self, *, warmup: int = 100):
        super().__init__(warmup)

    def after(self, step: int, steps: int) -> float:
        return 1.0
