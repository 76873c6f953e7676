"""How long the runs of a study will take, as far as the first new one of them tells."""

import math
from collections.abc import Collection


class Pace:
    """`fresh` are the numbers of the jobs whose runs are still to be made, `resumed` those of them that may have begun
    at an earlier start, so that they tell nothing; `later` is how many more begin when all these are over. So many run
    `beside` each other. Times are in nanoseconds."""

    def __init__(self, fresh: Collection[int], resumed: Collection[int], later: int, beside: int):
        self._fresh, self._resumed, self._later, self._beside = set(fresh), set(resumed), later, beside
        self._began: dict[int, int] = {}
        self._told = False

    @property
    def fresh(self) -> int:
        """How many of these are not over."""
        return len(self._fresh)

    @property
    def will_tell(self) -> bool:
        """Whether runs begin after the first one that tells has ended, even if the resumed ones end before it."""
        new = len(self._fresh - self._resumed)
        return new > self._beside or (new > 0 and self._later > 0)

    @property
    def at_once(self) -> int:
        """How many run beside each other at most."""
        return min(self._beside, max(self.fresh, self._later))

    def began(self, job: int, at: int) -> None:
        """The job has its corpus, whose making the others are spared, and its run begins."""
        self._began.setdefault(job, at)

    def ended(self, job: int, at: int, seconds: float | None, done: bool) -> str:
        """What to tell when a job is over: once, and where runs have yet to begin. `seconds` is how long it took, in
        case that nobody saw it begin; None for a run that was there already."""
        self._fresh.discard(job)
        left = self.fresh + self._later
        begin = max(0, self.fresh - (self._beside - 1))  # those beside it have run about as long
        rounds = math.ceil(begin / self._beside) + math.ceil(self._later / self._beside)
        if self._told or not done or seconds is None or job in self._resumed or not rounds:
            return ""
        self._told = True
        took = (at - self._began[job]) / 1e9 if job in self._began else seconds
        others = "run that is left" if left == 1 else f"{left:,} runs that are left"
        return f"about {lasting(took * rounds)} for the {others}, if they take as long as this one"


def lasting(seconds: float) -> str:
    """As in 45 s, 3 min, 1.5 h, 20 h or 4 days; a second at least."""
    if seconds < 90:
        return f"{max(1.0, seconds):.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    hours = seconds / 3600
    return f"{hours:.1f} h" if hours < 9.95 else f"{hours:.0f} h" if hours < 72 else f"{hours / 24:.0f} days"
