"""A sweep of Hydra's: each job runs whatever becomes of the others, and how each ended is noted and told.

The notes are files of the sweep's own folder: `<out>/studies/<name>/` for a study that has a name, else
`<out>/sweeps/<time>/`, beside Hydra's multirun.yaml. A job may run in another process or on another machine;
environment variables name the folder and its number to it.
"""

import os
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from itertools import count
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.experimental.callback import Callback

from zoo.errors import RunFailed, UserError
from zoo.sweep.ending import ending
from zoo.sweep.notes import Note, read_notes, stop, stopped
from zoo.sweep.worker import LAUNCHER, abandoned, into_log, obey_launcher, this_process
from zoo.terminal import show

VARIABLE, NUMBER = "ZOO_SWEEP", "ZOO_JOB"

_notes: list[Note] = []
"""The note of the job that this process is at."""

_taken: set[Path] = set()
"""Folders of sweeps whose jobs this process launches, and nobody else meanwhile."""


class MakeFolder(Callback):
    """Hydra calls it (`hydra.callbacks` in conf/train.yaml) before the first job, in the process that launches."""

    def __init__(self, root: Any):
        self.root = Path(str(root)).absolute()

    def on_multirun_start(self, config: Any, **kwargs: Any) -> None:
        """Make the folder: that of the study, or one that no other sweep has. When the disk refuses, Hydra will say so:
        it writes there next. A dry run has none."""
        if config is not None and config.get("dry_run"):
            return
        chosen = None if config is None else config.hydra.runtime.choices.get("study")
        if chosen is not None:
            path = self.root / "studies" / str(chosen).replace("/", "-")
            with suppress(OSError):
                path.mkdir(parents=True, exist_ok=True)
            os.environ[VARIABLE] = str(path)
            return
        stamp = time.strftime("%Y-%m-%d_%H-%M-%S")
        for number in count():
            path = self.root / "sweeps" / (f"{stamp}-{number}" if number else stamp)
            try:
                path.mkdir(parents=True)
            except FileExistsError:
                if not path.parent.is_dir():
                    return
                continue
            except OSError:
                return
            os.environ[VARIABLE] = str(path)
            take(path)
            return


def folder() -> Path | None:
    """The folder of the sweep that this process works for."""
    path = os.environ.get(VARIABLE)
    return None if path is None else Path(path)


def take(root: Path) -> None:
    """The jobs of that folder are launched by this process: in the end it tells how they ended."""
    _taken.add(root)


def forget() -> None:
    """A new command begins: it is no job of the sweep that may have started it."""
    _taken.clear()
    for name in (VARIABLE, NUMBER, LAUNCHER):
        os.environ.pop(name, None)


def tell(run: Path, match: Mapping[str, Any] | None, found: bool) -> None:
    """Say in the job's note, if this is one of a sweep, which run it is: where it lies, how it was matched, and whether
    it was there already."""
    root = folder()
    if _notes and root is not None:
        note = _notes[-1]
        note.tell(os.path.relpath(run.absolute(), root), match, found)
        note.write(root)


def in_study() -> bool:
    """Whether this process is at a job of a study."""
    return bool(_notes)


def one_of_many(function: Callable[[Any], Any], config: Any) -> None:
    """Run a job of a sweep; what it raises is told and noted. An interruption ends the sweep; in a study whose jobs are
    in other processes, it lets no further job start."""
    hydra, root = HydraConfig.get(), folder()
    assert root is not None
    study = NUMBER in os.environ
    if study and (stopped(root) or abandoned()):
        return
    overrides = [one for one in hydra.overrides.task if not one.startswith("fail_fast=")]
    note = Note(int(os.environ.get(NUMBER, hydra.job.num)), overrides)
    note.remember(root)
    note.write(root)
    _notes.append(note)
    try:
        if study:
            obey_launcher(in_study)
            if stopped(root):  # since the look above: who stops a study tells those jobs that have a note by then
                raise KeyboardInterrupt
        with into_log(root / f"{note.job}.log") if study else nullcontext():
            _run(function, config, note, root)
    except KeyboardInterrupt:
        if study and abandoned():  # whoever starts the study again writes there now
            return
        note.end(root, "interrupted")
        stop(root)
        if not study or os.environ.get(LAUNCHER) == this_process():  # else the launcher is told by the note
            raise
    finally:
        _notes.clear()
    if study and note.ended not in ("done", "interrupted") and config.get("fail_fast"):
        stop(root)
    if note.message and not study:
        print(f"error: {note.message}  [job {note.job}: {' '.join(note.overrides)}]", file=sys.stderr, flush=True)


def _run(function: Callable[[Any], Any], config: Any, note: Note, root: Path) -> None:
    """Run the job and say in its note how it ended. Raises nothing but KeyboardInterrupt."""
    state, message = "done", ""
    try:
        function(config)
    except KeyboardInterrupt:
        raise
    except UserError as error:
        state, message = "bad input", str(error)
    except RunFailed as error:
        state, message = error.state, str(error)
    except BaseException as error:
        traceback.print_exc()
        state, message = "failed", f"{type(error).__name__}: {error}"
    note.end(root, state, message)


def report() -> int:
    """Print how the jobs of the sweep ended, if there was one that this process took; returns the exit code: 2 when all
    that failed was bad input, 1 when something else failed."""
    path = folder()
    taken = path in _taken
    forget()
    notes = {} if path is None else read_notes(path)
    if path is None or not notes:
        if path is not None:
            _discard(path)
        return 0
    if not taken:  # refused beside what it did before, or what another process does now
        return 0
    for note in notes.values():
        if note.state == "running":  # it ended, and the disk did not take the word
            note.over("interrupted")
    show(*ending(path, notes))
    failed = {note.ended for note in notes.values()} - {"done"}
    return 0 if not failed else 2 if failed == {"bad input"} else 1


def _discard(path: Path) -> None:
    """Leave nothing of a sweep that was refused before its first job."""
    with suppress(OSError):
        (path / "multirun.yaml").unlink(missing_ok=True)
        for empty in (path, path.parent, path.parent.parent):
            empty.rmdir()
