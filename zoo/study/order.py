"""Which job is next, where several run side by side."""

from collections.abc import Sequence
from pathlib import Path

from zoo.command.overrides import key_of, of_the_job
from zoo.sweep.notes import stopped


class Order:
    """Calls by number, each in its turn."""

    def __init__(self, count: int):
        self.waiting = list(range(count))

    def next(self) -> int | None:
        """The number of the next one, which waits no longer; None when there is none to begin."""
        return self.waiting.pop(0) if self.waiting else None

    def ended(self, number: int, seconds: float) -> None:
        """That one is over, and took so long."""


class LongestFirst(Order):
    """Jobs seed by seed. Of one seed those come first whose like took longest with another seed, so that in the end no
    process waits for a long one that began last; what is not known yet comes before, in its turn. None begins when the
    study is to stop."""

    def __init__(self, jobs: Sequence[Sequence[str]], folder: Path | None):
        super().__init__(len(jobs))
        self._folder, self._took = folder, dict[tuple[str, ...], float]()
        self._seeds = [tuple(one for one in job if key_of(one) == "seed") for job in jobs]
        self._likes = [tuple(one for one in job if not of_the_job(key_of(one))) for job in jobs]

    def next(self) -> int | None:
        if not self.waiting or (self._folder is not None and stopped(self._folder)):
            return None
        turn = [one for one in self.waiting if self._seeds[one] == self._seeds[self.waiting[0]]]
        found = max(turn, key=lambda one: self._took.get(self._likes[one], float("inf")))
        self.waiting.remove(found)
        return found

    def ended(self, number: int, seconds: float) -> None:
        self._took[self._likes[number]] = seconds
