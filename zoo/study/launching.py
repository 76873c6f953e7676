"""Jobs through one of Hydra's launchers, whatever becomes of one of them."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any

from hydra.core.utils import JobReturn

from zoo.errors import UserError
from zoo.study.forks import WorkerLostError
from zoo.study.plan import Job
from zoo.sweep.notes import Note, read_notes, stop, stopped

Launch = Callable[[Sequence[Job]], Any]
"""Runs these jobs and returns when they are over; raises when a worker was lost."""


def launch_all(launch: Launch, jobs: Sequence[Job], folder: Path) -> None:
    """Launch the jobs until each has ended. When a worker is killed, a launcher gives up on all its jobs: those that
    had not begun are launched again, and those that were running once more, each alone; one that is lost again is
    noted as killed. Raises what the launcher raised when no job has begun since the last launch, at the second time
    where a process was killed before; and UserError, by which a job says that its note cannot be written."""
    suspects: list[Job] = []
    waiting, killed = list(jobs), False
    while waiting and not stopped(folder):
        before = {number: note.started for number, note in read_notes(folder).items()}
        try:
            launch(waiting)
            return _alone(launch, suspects, folder)
        except (KeyboardInterrupt, UserError):
            raise
        except Exception as error:
            if stopped(folder):
                return
            notes = read_notes(folder)
            begun = {one.job for one in waiting if one.job in notes and notes[one.job].started != before.get(one.job)}
            if not begun and (killed or not isinstance(error, WorkerLostError)):
                raise
            killed = not begun
            lost = [one for one in waiting if one.job in begun and notes[one.job].state == "running"]
            print(f"a worker was lost ({type(error).__name__}): {len(lost)} jobs were running", file=sys.stderr)
            suspects += lost
            waiting = [one for one in waiting if one.job not in begun]
    _alone(launch, suspects, folder)


def _alone(launch: Launch, suspects: Sequence[Job], folder: Path) -> None:
    """Launch each of these once more by itself."""
    for job in suspects:
        if stopped(folder):
            return
        try:
            launch([job])
        except (KeyboardInterrupt, UserError):
            raise
        except Exception as error:
            note = read_notes(folder).get(job.job)
            if note is None or note.state == "running":
                reason = f"its process was killed twice ({type(error).__name__}), perhaps for want of memory"
                (note or Note(job.job, job.overrides)).end(folder, "killed", reason)


def raise_unnoted(done: JobReturn) -> None:
    """Raise what a job raised because it could not note it, without Hydra's own words about it."""
    with redirect_stderr(StringIO()):
        done.return_value  # noqa: B018


class Stopping:
    """`with Stopping(folder):` the first Ctrl-C, or SIGTERM, lets no further job start and hands itself on to the
    running ones, which save and end; after a second one nobody waits for them."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.asked = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "Stopping":
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._stop)
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()

    def _stop(self, number: int, frame: Any) -> None:
        self.asked = True
        stop(self.folder)
        self.__exit__()
        running = [one for one in read_notes(self.folder).values() if one.state == "running"]
        print(f"stopping: {len(running)} runs save what they have; once more does not wait for them", file=sys.stderr)
        for note in running:
            note.interrupt()
        if any(note.pid == os.getpid() for note in running):  # the job is in this process: it is not in its loop
            raise KeyboardInterrupt
