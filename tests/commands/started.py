"""Commands in processes of their own: to be killed, interrupted, or run beside each other."""

import multiprocessing
import os
import runpy
import signal
import sys
from collections.abc import Iterable, Mapping
from contextlib import chdir, suppress
from multiprocessing.context import ForkServerContext, SpawnContext
from pathlib import Path

from zoo.families import FAMILY_PACKAGES

ROOT = Path(__file__).resolve().parents[2]
PARTS = [
    f"{package}.{path.stem}"
    for package in FAMILY_PACKAGES.values()
    for path in (ROOT / package.replace(".", "/")).glob("[!_]*.py")
]
"""The modules that a registry imports when it is asked for the first time."""

Context = SpawnContext | ForkServerContext
FRESH = multiprocessing.get_context("spawn")
"""A new Python, which takes two seconds to import what a run needs."""
FORKED = multiprocessing.get_context("forkserver")
"""Forks of one that has imported all that and computed nothing: they start at once."""
FORKED.set_forkserver_preload(["zoo.jobs.train", *PARTS])


def laid_over(words: Iterable[str]) -> list[str]:
    """The words, where of those with one key the last stays: a command takes one value of each."""
    return list({one.partition("=")[0] if "=" in one else str(i): one for i, one in enumerate(words)}.values())


class Started:
    """`python <script>.py <words>` in that folder, from now on; no study, whose workers it would wait for at its end.
    Its errors, and what it says unless that is to go elsewhere, go into files."""

    def __init__(
        self,
        script: str,
        *words: str,
        folder: Path,
        said: Path,
        out: Path | None = None,
        context: Context = FORKED,
    ):
        self.out, self.err = out or said / "out", said / "err"
        self.err.touch()
        self._process = context.Process(target=_run, args=(script, words, folder, dict(os.environ), self.out, self.err))
        with chdir(ROOT):  # where the first one finds what is to be imported
            self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid

    @property
    def runs(self) -> bool:
        """Whether it has not ended."""
        return self._process.is_alive()

    def send(self, number: int) -> None:
        """Send it a signal, and to no other process."""
        os.kill(self.pid, number)

    def end(self) -> None:
        """Kill what is left of it, and of the processes that it started."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.join()

    def code(self, seconds: float = 120) -> int:
        """Its exit code, once it has ended; of one that a signal ended, that number below zero."""
        self._process.join(seconds)
        assert self._process.exitcode is not None, f"it has not ended after {seconds} s"
        return self._process.exitcode


def _run(
    script: str, words: tuple[str, ...], folder: Path, environment: Mapping[str, str], out: Path, err: Path
) -> None:
    """What the new process does."""
    os.setsid()  # a group of its own, which can be killed
    for stream, path in ((sys.stdout, out), (sys.stderr, err)):
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, stream.fileno())
        os.close(file)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = [str(ROOT / f"{script}.py"), *laid_over(words)]
    sys.path.insert(0, str(ROOT))
    runpy.run_path(sys.argv[0], run_name="__main__")
