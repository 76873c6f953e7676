"""Forks of a process that has imported all that a run needs, and work for them."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any

from zoo.errors import RunFailed
from zoo.study.order import Order

START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from zoo.study.fork_server import serve; serve({})"

THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
"""By these the libraries below torch know how many threads they may start."""

Call = tuple[Callable[..., Any], tuple[Any, ...]]
"""A function, which can be imported by its name, and its arguments."""


class WorkerLostError(RunFailed):
    """A process ended in the midst of its work."""


class Forks:
    """`Forks(threads)` starts the process, which makes ready while the caller goes on; `run(calls, beside)` does the
    calls, that many at the same time; `close()` lets all end. Each fork may start that many threads."""

    def __init__(self, threads: int):
        self._threads = threads
        self._idle: list[Connection] = []
        self._start()

    def _start(self) -> None:
        """Start the process. A Ctrl-C waits meanwhile: it would end the new one before that can ignore it."""
        here, there = socket.socketpair()
        command = [sys.executable, "-c", START.format(there.fileno()), json.dumps(sys.path)]
        limits = {name: os.environ.get(name, str(self._threads)) for name in THREADS}
        environment = {**os.environ, **limits}
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            with there:
                self._process = subprocess.Popen(
                    command, pass_fds=[there.fileno()], stdin=subprocess.DEVNULL, env=environment
                )
        finally:
            self._control = here
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def run(self, calls: Sequence[Call], beside: int, order: Order | None = None) -> list[Any]:
        """What they return, as they end. Raises what one of them raised, once all are over that `order` lets begin, and
        WorkerLostError where a process ended in the midst of one, or none could be had; the others were done all the
        same."""
        order = order or Order(len(calls))
        busy: dict[Connection, tuple[int, float]] = {}
        returned, errors = [], list[BaseException]()
        while True:
            while len(busy) < beside and (number := order.next()) is not None:
                try:
                    busy[self._begin(calls[number])] = number, time.monotonic()
                except OSError:
                    errors.append(WorkerLostError("the process that all others are forks of is gone"))
            if not busy:
                break
            for one in wait(list(busy)):
                assert isinstance(one, Connection)
                number, began = busy.pop(one)
                order.ended(number, time.monotonic() - began)
                try:
                    result, error = one.recv()
                except (EOFError, OSError):
                    one.close()
                    errors.append(WorkerLostError("a process was killed at its work, perhaps for want of memory"))
                    continue
                self._idle.append(one)
                returned.append(result)
                errors += [] if error is None else [error]
        for error in errors:
            raise error
        return returned

    def close(self) -> None:
        """Idle processes end at once; those at work are told by the end of their parent."""
        self._control.close()
        self._process.kill()
        for one in self._idle:
            one.close()
        self._idle.clear()
        self._process.wait()

    def _begin(self, call: Call) -> Connection:
        """Let an idle process do it that was not killed meanwhile, or a new one. Raises OSError where there is none."""
        if self._process.poll() is not None:  # it was killed: its forks end by themselves, another takes its place
            self.close()
            self._start()
        while self._idle:
            one = self._idle.pop()
            try:
                one.send(call)
            except OSError:
                one.close()
            else:
                return one
        one = self._fork()
        one.send(call)
        return one

    def _fork(self) -> Connection:
        here, there = socket.socketpair()
        with here, there:
            socket.send_fds(self._control, [b"+"], [there.fileno()])
            return Connection(here.detach())
