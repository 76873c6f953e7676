"""A sweep of Hydra's: each job runs whatever becomes of the others, and how each ended is noted and told.

The notes are files of the sweep's own folder, `<out>/sweeps/<time>/`, beside Hydra's multirun.yaml: a job may run in
another process or on another machine. The environment variable names the folder to all of them.
"""

import json
import os
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.experimental.callback import Callback
from rich.markup import escape
from rich.table import Table

from zoo.errors import RunFailed, UserError
from zoo.terminal import show

VARIABLE = "ZOO_SWEEP"


class MakeFolder(Callback):
    """Hydra calls it (`hydra.callbacks` in conf/train.yaml) before the first job, in the process that launches."""

    def __init__(self, root: Any):
        self.root = Path(str(root), "sweeps").absolute()

    def on_multirun_start(self, config: Any, **kwargs: Any) -> None:
        """Make a folder that no other sweep has. When the disk refuses, Hydra will say so: it writes there next."""
        stamp = time.strftime("%Y-%m-%d_%H-%M-%S")
        for number in count():
            path = self.root / (f"{stamp}-{number}" if number else stamp)
            try:
                path.mkdir(parents=True)
            except FileExistsError:
                if not self.root.is_dir():
                    return
                continue
            except OSError:
                return
            os.environ[VARIABLE] = str(path)
            return


def folder() -> Path | None:
    """The folder of the sweep that this process works for."""
    path = os.environ.get(VARIABLE)
    return None if path is None else Path(path)


def forget() -> None:
    """A new command begins: it is no job of the sweep that may have started it."""
    os.environ.pop(VARIABLE, None)


def one_of_many(function: Callable[[Any], Any], config: Any) -> None:
    """Run a job of a sweep; what it raises is told at once and noted. Only an interruption ends the sweep."""
    hydra = HydraConfig.get()
    overrides, state, message = list(hydra.overrides.task), "done", ""
    try:
        function(config)
    except KeyboardInterrupt:
        _note(hydra.job.num, overrides, "interrupted", "")
        raise
    except UserError as error:
        state, message = "bad input", str(error)
    except RunFailed as error:
        state, message = "failed", str(error)
    except BaseException as error:
        traceback.print_exc()
        state, message = "failed", f"{type(error).__name__}: {error}"
    if message:
        print(f"error: {message}  [job {hydra.job.num}: {' '.join(overrides)}]", file=sys.stderr, flush=True)
    _note(hydra.job.num, overrides, state, message)


def report() -> int:
    """Print how the jobs of the sweep ended, if there was one; returns the exit code: 2 when all that failed was bad
    input, 1 when something else failed."""
    path = folder()
    forget()
    notes = [] if path is None else [json.loads(file.read_text()) for file in path.glob("[0-9]*.json")]
    if not notes:
        if path is not None:
            _discard(path)
        return 0
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("job", "state", "overrides that differ"):
        table.add_column(column, overflow="fold")
    common = set.intersection(*(set(note["overrides"]) for note in notes)) if len(notes) > 1 else set()
    for note in sorted(notes, key=lambda one: int(one["job"])):
        differing = " ".join(one for one in note["overrides"] if one not in common)
        table.add_row(str(note["job"]), note["state"], escape(differing))
    show(escape(f"sweep {path}"), table)
    failed = {note["state"] for note in notes} - {"done"}
    return 0 if not failed else 2 if failed == {"bad input"} else 1


def _discard(path: Path) -> None:
    """Leave nothing of a sweep that was refused before its first job."""
    with suppress(OSError):
        (path / "multirun.yaml").unlink(missing_ok=True)
        for empty in (path, path.parent, path.parent.parent):
            empty.rmdir()


def _note(job: Any, overrides: list[str], state: str, message: str) -> None:
    path = folder()
    assert path is not None
    note = {"job": job, "state": state, "message": message, "overrides": overrides}
    (path / f"{job}.json").write_text(json.dumps(note, indent=1) + "\n")
