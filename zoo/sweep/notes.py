"""How the jobs of a sweep stand: a small file for each, `<job>.json` in the folder of the sweep.

The job itself writes it, in whatever process or on whatever machine it runs; who launched the sweep reads it.
"""

import json
import os
import re
import signal
import socket
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zoo.errors import UserError
from zoo.training.files import json_text, read_json, write_whole

OVER = ("done", "failed", "diverged", "bad input", "killed")
"""States of a job that will not go on by itself, and is not to be launched again by the same command."""

CONCLUDED = ("done", "diverged")
"""States of a run that came to an end which says how good it is."""

STOP = ".stop"
"""A file of this name in the folder keeps jobs from starting."""


@dataclass
class Note:
    """What is known of one job."""

    job: int
    overrides: Sequence[str]
    state: str = "running"
    message: str = ""
    folder: str | None = None
    """Of its run, relative to the folder of the sweep; None while unknown. That of an earlier start, until this one
    tells which run it is."""
    match: Mapping[str, Any] | None = None
    found: bool = False
    """Whether the run was there already, finished."""
    before: str | None = None
    """How the run of an earlier start had ended, until this one tells which run it is."""
    again: str | None = None
    """How this start ended, when it never told: `state` is that of the earlier one then."""
    started: float = field(default_factory=time.time)
    seconds: float | None = None
    pid: int = field(default_factory=os.getpid)
    host: str = field(default_factory=socket.gethostname)

    def write(self, root: Path) -> None:
        """Replace the file of the job. Raises UserError when the disk refuses."""
        write_whole(root / f"{self.job}.json", (json_text(vars(self), indent=1) + "\n").encode())

    @property
    def ended(self) -> str:
        """How the last start ended."""
        return self.again or self.state

    def remember(self, root: Path) -> None:
        """Keep what the note of an earlier start says of a run that had come to its end: whatever becomes of this start
        before it tells its own, there is that one."""
        earlier = read_note(root / f"{self.job}.json")
        if earlier is not None and earlier.overrides == self.overrides and earlier.state in CONCLUDED:
            self.folder, self.match, self.before = earlier.folder, earlier.match, earlier.state

    def tell(self, folder: str, match: Mapping[str, Any] | None, found: bool) -> None:
        """Which run it is."""
        self.folder, self.match, self.found, self.before = folder, match, found, None

    def end(self, root: Path, state: str, message: str = "") -> None:
        """Say how the job ended, and when."""
        self.message, self.seconds = message, round(time.time() - self.started, 3)
        self.over(state)
        self.write(root)

    def over(self, state: str) -> None:
        """It ended so."""
        self.state, self.again = (state, None) if self.before is None else (self.before, state)

    def interrupt(self) -> None:
        """Ask the job to save and end; one on another machine is not asked."""
        if self.host == socket.gethostname() and self.pid != os.getpid():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(self.pid, signal.SIGTERM)


def read_note(file: Path) -> Note | None:
    """The note in a file; None when it is damaged, or not there any more."""
    try:
        values = read_json(file)
        return Note(**{key: values[key] for key in Note.__dataclass_fields__ if key in values})
    except (UserError, TypeError):
        return None


def read_notes(root: Path) -> dict[int, Note]:
    """All notes of a sweep by number."""
    files = [file for file in root.glob("*.json") if re.fullmatch(r"[0-9]+\.json", file.name)]
    notes = [read_note(file) for file in files]
    return {one.job: one for one in sorted((one for one in notes if one), key=lambda one: one.job)}


def write_study(root: Path, content: Mapping[str, Any]) -> None:
    """Write study.json, unless it says the same already."""
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    file = root / "study.json"
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        write_whole(file, text.encode())


def renumber(root: Path, numbers: Mapping[tuple[str, ...], int]) -> None:
    """Give the notes of an earlier start the numbers that their jobs have now; `numbers` is by overrides. Those of jobs
    that are no more go; what was running is over."""
    old = read_notes(root)
    places = {before: numbers.get(tuple(note.overrides)) for before, note in old.items()}
    kept = {before for before, now in places.items() if before == now and old[before].state != "running"}
    for file in root.glob("*.json"):
        if re.fullmatch(r"[0-9]+\.json", file.name) and int(file.stem) not in kept:
            file.unlink(missing_ok=True)
    for before, number in places.items():
        if number is not None and before not in kept:
            note = old[before]
            note.job = number
            if note.state == "running":
                note.over("interrupted")
            note.write(root)


def end_running(root: Path) -> None:
    """Say of all jobs that still seem to run that they were interrupted: their processes are gone."""
    for note in read_notes(root).values():
        if note.state == "running":
            note.end(root, "interrupted")


def stopped(root: Path) -> bool:
    """Whether no further job is to start."""
    return (root / STOP).exists()


def stop(root: Path) -> None:
    """Let no further job start."""
    (root / STOP).touch()
