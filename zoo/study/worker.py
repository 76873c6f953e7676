"""What a job of a study does to the process that it runs in."""

import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

LAUNCHER = "ZOO_LAUNCHER"
"""The environment variable that says which process launched the jobs."""


def this_process() -> str:
    """A name of this process, of all machines."""
    return f"{socket.gethostname()}:{os.getpid()}"


def obey_launcher() -> None:
    """In a process that only works for another: Ctrl-C is for that one, which then sends SIGTERM to each job."""
    if os.environ.get(LAUNCHER) == this_process() or threading.current_thread() is not threading.main_thread():
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _interrupt)


def _interrupt(number: int, frame: Any) -> None:
    raise KeyboardInterrupt


@contextmanager
def into_log(path: Path) -> Iterator[None]:
    """Let all that is printed or logged go into that file: jobs side by side would write over each other."""
    with open(path, "a", encoding="utf-8") as file, redirect_stdout(file), redirect_stderr(file):
        handlers = [one for one in logging.getLogger().handlers if type(one) is logging.StreamHandler]
        before = [handler.setStream(sys.stdout) for handler in handlers]
        try:
            yield
        finally:
            for handler, stream in zip(handlers, before, strict=True):
                if stream is not None:
                    handler.setStream(stream)
