"""How long the runs of a study will take, as far as the first new one of them tells."""

from collections.abc import Collection


class Pace:
    """`fresh` are the numbers of the jobs whose runs are still to be made, `later` is how many more come after them; so
    many run `beside` each other. Times are in nanoseconds."""

    def __init__(self, fresh: Collection[int], later: int, beside: int):
        self._fresh, self._later, self._beside = set(fresh), later, beside
        self._began: dict[int, int] = {}
        self._told = False

    @property
    def fresh(self) -> int:
        """How many of these are not over."""
        return len(self._fresh)

    @property
    def will_tell(self) -> bool:
        """Whether runs begin after the first one has ended."""
        return self.fresh + self._later > self._beside

    def began(self, job: int, at: int) -> None:
        """The job has its corpus, whose making the others are spared, and its run begins."""
        self._began.setdefault(job, at)

    def ended(self, job: int, at: int, seconds: float | None, done: bool) -> str:
        """What to tell when a job is over: once, and where runs have yet to begin. `seconds` is how long it took, in
        case that nobody saw it begin; None for a run that was there already."""
        self._fresh.discard(job)
        left = self.fresh + self._later
        begin = left - (self._beside - 1)  # those beside it have run about as long
        if self._told or not done or seconds is None or begin <= 0:
            return ""
        self._told = True
        took = (at - self._began[job]) / 1e9 if job in self._began else seconds
        others = "run that is left" if left == 1 else f"{left:,} runs that are left"
        return f"about {lasting(took * begin / self._beside)} for the {others}, if they take as long as this one"


def lasting(seconds: float) -> str:
    """As in 45 s, 3 min or 1.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"
