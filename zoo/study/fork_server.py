"""A process that imports what a run needs, once, and from then on only forks: each fork works for whoever launched it.

It starts as a Python of its own, since a process that has threads, or has computed, cannot be forked safely.
"""

import gc
import os
import signal
import socket
from importlib import import_module
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from typing import Any, NoReturn

from zoo.sweep.worker import follow

IMPORTED = "zoo.jobs.train"


def serve(control: int) -> None:
    """Fork for each socket that comes through the one of that number, until the launcher closes it or is gone."""
    launcher = os.getppid()
    for number in (signal.SIGINT, signal.SIGTERM):  # they are for the launcher, who may not be the only one to get them
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    import_module(IMPORTED)
    registry = import_module("zoo.registry")
    for family in registry.FAMILIES.values():
        family.names()  # imports its parts
    gc.freeze()  # no fork looks through what all have in common for what is no more used, nor copies it by doing so
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # a fork that ended leaves no process behind
    with socket.socket(fileno=control) as asked:
        while received := socket.recv_fds(asked, 1, 1)[1]:
            if os.fork() == 0:
                asked.close()
                _work(Connection(received[0]), launcher)
            os.close(received[0])


def _work(connection: Connection, launcher: int) -> NoReturn:
    """Do what comes through the connection and send back what it came to, or what it raised, until it is closed. What
    it does may heed SIGTERM; between two calls that is ignored, since it would cut short what comes or goes."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    follow(launcher)
    parent = os.getppid()
    while True:
        try:
            function, arguments = connection.recv()
        except (EOFError, OSError):
            os._exit(0)
        try:
            said: tuple[Any, BaseException | None] = function(*arguments), None
        except BaseException as error:
            said = None, _sendable(error)
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if os.getppid() != parent:  # killed, by which a job is cut short: the launcher shall take it for lost
            os._exit(1)
        try:
            connection.send(said)
        except OSError:
            os._exit(0)


def _sendable(error: BaseException) -> BaseException:
    try:
        ForkingPickler.loads(ForkingPickler.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
