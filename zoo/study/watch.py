"""What a person sees of a study while it runs: how many runs it has and, after the first, how long they take; a line as
each job starts and ends; a bar on a terminal.

It reads the notes, so it is the same whatever launches the jobs.
"""

import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from zoo.errors import UserError
from zoo.number import counted
from zoo.study.pace import Pace
from zoo.study.plan import Job
from zoo.sweep.ending import job_name
from zoo.sweep.notes import CONCLUDED, OVER, Note, read_note
from zoo.training.run import read_status

PERIOD = 0.3
"""Seconds between looks."""


class Watch:
    """`with Watch(folder, jobs, total, done, beside): launch(jobs)` tells how the jobs go, from a thread. `done` of the
    `total` jobs are over before; so many run `beside` each other."""

    def __init__(self, folder: Path, jobs: Sequence[Job], total: int, done: int, beside: int):
        self.folder, self.jobs, self.done, self.total = folder, {one.job: one for one in jobs}, done, total
        self.out, self.err = Console(file=sys.stdout), Console(file=sys.stderr)  # whatever a job puts in their place
        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("runs"), TimeRemainingColumn())
        self._bar = Progress(*columns, console=self.out, disable=not self.out.is_terminal, speed_estimate_period=3600)
        self._task = self._bar.add_task("", total=total, completed=done)
        self._started: set[int] = set()
        self._before = {one: self._stamp(one) for one in self.jobs}
        notes = {one: read_note(self._file(one)) for one in self.jobs}
        fresh = [one for one, note in notes.items() if note is None or note.state not in CONCLUDED]
        resumed = [one for one in fresh if notes[one] is not None]
        self._pace = Pace(fresh, resumed, total - done - len(jobs), beside)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def __enter__(self) -> "Watch":
        self._bar.start()
        if not self.done:
            self._say(f"{self.folder}: {self._extent()}")
        self._thread.start()
        return self

    def _extent(self) -> str:
        before = len(self.jobs) - self._pace.fresh
        made = f", {before:,} of them made before" if before else ""
        beside = f", {self._pace.at_once:,} at once" if self._pace.at_once > 1 else ""
        time = "; how long they take is told after the first" if self._pace.will_tell else ""
        return f"{counted(self.total, 'run')}{made}{beside}{time}"

    def _file(self, job: int) -> Path:
        return self.folder / f"{job}.json"

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        self._look()
        self._bar.stop()

    def _follow(self) -> None:
        while not self._over.wait(PERIOD):
            self._look()

    def _stamp(self, job: int) -> int:
        try:
            return self._file(job).stat().st_mtime_ns
        except OSError:
            return 0

    def _look(self) -> None:
        """Tell what changed since the last look."""
        for number in list(self._before):
            stamp = self._stamp(number)
            if stamp == self._before[number]:
                continue
            self._before[number] = stamp
            note = read_note(self._file(number))
            if note is not None:
                self._tell(self.jobs[number], note)
                self._time(note, stamp)
                if note.state in OVER:
                    del self._before[number]

    def _tell(self, job: Job, note: Note) -> None:
        named = job_name(job.variant, job.tuning, job.seed)
        if note.state == "running":
            if job.job not in self._started and not note.found:  # its folder may be known at the first look
                self._say(f"{named}: started")
                self._started.add(job.job)
            return
        if note.state in OVER:
            self.done += 1
            self._bar.update(self._task, completed=self.done)
        took = "" if note.seconds is None else f" in {_clock(note.seconds)}"
        ended = "was there already" if note.found and note.ended == "done" else f"{note.ended}{took}"
        self._say(f"[{self.done}/{self.total}] {named}: {ended}{_loss(self.folder, note)}")
        if note.message:
            text = f"error: {note.message}  [{named}]"
            self.err.print(text, markup=False, highlight=False, soft_wrap=True)

    def _time(self, note: Note, stamp: int) -> None:
        if note.state in OVER:
            seconds = None if note.found or note.again else note.seconds
            if text := self._pace.ended(note.job, stamp, seconds, note.state == "done"):
                self._say(text)
        elif note.state == "running" and note.folder is not None and note.before is None:
            self._pace.began(note.job, stamp)

    def _say(self, text: str) -> None:
        self.out.print(text, markup=False, highlight=False, soft_wrap=True)


def scores_of(folder: Path, note: Note) -> dict[str, dict[str, float]]:
    """The final scores of the run that a note names, by split; nothing while there are none."""
    if note.folder is None:
        return {}
    try:
        status = read_status(folder / note.folder) or {}
    except UserError:
        return {}
    return dict(status.get("scores") or {})


def _loss(folder: Path, note: Note) -> str:
    loss = None if note.again else scores_of(folder, note).get("validation", {}).get("loss")
    return "" if loss is None else f", validation loss {loss:.4f}"


def _clock(seconds: float) -> str:
    return time.strftime("%-M:%S" if seconds < 3600 else "%-H:%M:%S", time.gmtime(seconds))
