"""Ctrl-C, and the signal by which a cluster ends a job, let the step finish first."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from zoo.literal import as_word

_asked: list[int] = []
"""Signals that asked this process to end."""


def end_once() -> None:
    """In a process that works for another: from now on one SIGTERM ends what it does, and all that follow are that one
    again. What is sent to a whole group comes from the other process too, which hands it on."""
    _asked.clear()
    signal.signal(signal.SIGTERM, _first)


def _first(number: int, frame: FrameType | None) -> None:
    if not _asked:
        _asked.append(number)
        raise KeyboardInterrupt


class Interrupt:
    """`with Interrupt() as interrupt:` the first SIGINT or SIGTERM only sets `interrupt.asked`, which the loop looks at
    after each step; a second one acts as it does outside. A signal that the process ignores stays ignored: then another
    process decides. Outside the main thread it does nothing."""

    def __init__(self) -> None:
        self.asked = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "Interrupt":
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._ask)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._restore()

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        _asked.append(number)
        self._restore()

    def _restore(self) -> None:
        before, self._before = self._before, {}  # another signal may come in between, and finds nothing left to do
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def terminable() -> Iterator[None]:
    """Within, SIGTERM is what Ctrl-C is: it raises KeyboardInterrupt, so that a run says how it stands before it ends.
    Where SIGTERM is ignored, or does so once, or outside the main thread, nothing changes."""
    present = signal.getsignal(signal.SIGTERM)
    if threading.current_thread() is not threading.main_thread() or present in (signal.SIG_IGN, _first):
        yield
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, present)


def how_to_resume(folder: Path, step: int, plugins: str = "") -> str:
    """What to say after an interruption, when the newest checkpoint is that of `step`. `plugins` are the words of the
    command line that name the modules of the user's own."""
    return f"interrupted; step {step} is saved. Go on with: python train.py {as_word('resume', str(folder))}{plugins}"
