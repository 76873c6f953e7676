"""What a job of a study does to the process that it runs in."""

import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from io import BufferedWriter, FileIO, TextIOWrapper
from pathlib import Path
from typing import Any

from zoo.training.files import refusals
from zoo.training.interrupt import end_once

LAUNCHER = "ZOO_LAUNCHER"
"""The environment variable that says which process launched the jobs."""

PERIOD = 0.5
"""Seconds between looks whether that process is still there."""


def this_process() -> str:
    """A name of this process, of all machines."""
    return f"{socket.gethostname()}:{os.getpid()}"


def obey_launcher(busy: Callable[[], bool]) -> None:
    """In a process that only works for another: Ctrl-C is for that one, which then sends SIGTERM to each job. When that
    one is gone, killed perhaps, this process ends too: at once, or while it is `busy` once its run is saved."""
    launcher = os.environ.get(LAUNCHER, "")
    if launcher in ("", this_process()) or threading.current_thread() is not threading.main_thread():
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_once()
    if launcher not in _watched:
        _watched.add(launcher)
        threading.Thread(target=_end_with, args=(launcher, busy), daemon=True).start()


def abandoned() -> bool:
    """Whether this process works for another one that is gone: the study is no more its own to write to."""
    return gone(os.environ.get(LAUNCHER, ""))


_watched: set[str] = set()
"""Launchers that a thread of this process waits for."""

_parent = os.getppid()
"""The process that started this one."""

_ends_with_parent = {_parent}
"""The processes that are gone when the parent of this one is."""


def follow(launcher: int) -> None:
    """In a fork, whose parent ends as soon as that process of this machine does."""
    global _parent
    _parent = os.getppid()
    _ends_with_parent.clear()
    _ends_with_parent.update((_parent, launcher))


def gone(process: str) -> bool:
    """Whether that process has ended. Nothing is known of one on another machine; of the parent, and of whom it ends
    with, more than whether the number is free, which a killed process keeps until it is waited for."""
    host, _, number = process.rpartition(":")
    if host != socket.gethostname():
        return False
    if int(number) in _ends_with_parent:
        return os.getppid() != _parent
    with suppress(PermissionError):
        try:
            os.kill(int(number), 0)
        except ProcessLookupError:
            return True
    return False


def _end_with(launcher: str, busy: Callable[[], bool]) -> None:
    """End this process soon after its launcher, once the run that it is at has been saved."""
    while not gone(launcher):
        time.sleep(PERIOD)
    if busy():
        os.kill(os.getpid(), signal.SIGTERM)
    while busy():
        time.sleep(PERIOD)
    os._exit(1)


class _Log(FileIO):
    """What a full disk refuses is lost here: the run, whose own files it refuses too, says so."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError:
            return len(data)


@contextmanager
def into_log(path: Path) -> Iterator[None]:
    """Let all that is printed or logged go into that file: jobs side by side would write over each other. Raises
    UserError where it cannot be opened."""
    with refusals(path):
        log = _Log(path, "a")
    with TextIOWrapper(BufferedWriter(log), encoding="utf-8") as file, redirect_stdout(file), redirect_stderr(file):
        handlers = [one for one in logging.getLogger().handlers if type(one) is logging.StreamHandler]
        before = [handler.setStream(sys.stdout) for handler in handlers]
        try:
            yield
        finally:
            for handler, stream in zip(handlers, before, strict=True):
                if stream is not None:
                    handler.setStream(stream)
