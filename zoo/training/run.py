"""The run folder: one live writer, and files that tell at any moment how the run stands."""

import os
import socket
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, get_args

import yaml
from filelock import Timeout

from zoo.errors import UserError
from zoo.lock import lock_at
from zoo.nearby import folders_like
from zoo.training.files import (
    ANEW,
    json_text,
    read_json,
    refusals,
    refuse_depth,
    remove,
    sweep_up,
    write_whole,
)
from zoo.training.metrics import lines_until, read_metrics
from zoo.training.recorded import misfit, wrong

State = Literal["running", "done", "failed", "diverged", "interrupted"]

WRITTEN = ("config.yaml", "record.json", "metrics.jsonl", "scores.json", "status.json")
"""The files of a run folder that only the holder of its lock writes."""


def read_config(folder: Path) -> dict[str, Any]:
    """The resolved config of a run folder. Raises UserError when the folder is none."""
    try:
        node = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
        refuse_depth(node)
    except (OSError, yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        hint = "" if folder.exists() else folders_like(folder)
        raise UserError(f"{folder} is no run folder{hint}: it has no readable config.yaml") from error
    if not isinstance(node, dict):
        raise UserError(f"{folder / 'config.yaml'} is empty or damaged; the run cannot be rebuilt from it")
    return node


def read_record(folder: Path) -> dict[str, Any]:
    """What record.json of a run folder says. Raises UserError when it is missing or damaged."""
    try:
        record = read_json(folder / "record.json")
    except UserError as error:
        raise UserError(f"{error}; {ANEW}") from error
    if said := misfit(record):
        raise UserError(f"{folder / 'record.json'} is damaged: {said}; {ANEW}")
    return record


def read_status(folder: Path) -> dict[str, Any] | None:
    """What status.json says, or None when the folder has none. A killed process leaves "running" behind. Raises
    UserError when it is damaged."""
    path = folder / "status.json"
    if not path.exists():
        return None
    try:
        status = read_json(path)
    except UserError as error:
        raise UserError(f"{error}; {ANEW}") from error
    if status.get("state") not in get_args(State):
        raise UserError(f"{path} is damaged: it has no state; {ANEW}")
    return status


class RunFolder:
    """`with RunFolder(path) as run:` makes the folder and holds its lock, which the system lets go of even when the
    process is killed. When another process writes there it raises UserError, or waits with `wait`.

    run.start(config, record); run.log(...); run.finish("done")
    """

    def __init__(self, path: Path, *, wait: bool = False):
        self.path, self.wait = path, wait
        self.checkpoints = path / "checkpoints"
        self._lines, self._scores = 0, (0, 0)  # lines of metrics.jsonl; a step, and how many are held-out scores of it

    def __enter__(self) -> "RunFolder":
        with refusals(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock = lock_at(self.path / ".lock")
            try:
                self._lock.acquire(timeout=0)
            except Timeout:
                status = self._writer()
                writer = f"process {status.get('pid', '(just started)')} on {status.get('host', 'this machine')}"
                if not self.wait:
                    raise UserError(
                        f"{self.path} is being written by {writer}; wait for it, stop it, or choose another folder with"
                        " out="
                    ) from None
                print(f"{self.path} is being written by {writer}; waiting for it", flush=True)
                self._lock.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._sweep()
        self._lock.release()

    def _writer(self) -> dict[str, Any]:
        """What is known of the process that writes here; a damaged status is its own affair."""
        try:
            return read_status(self.path) or {}
        except UserError:
            return {}

    def _sweep(self) -> None:
        """Remove what killed processes left half-written; for the holder of the lock."""
        with suppress(OSError):  # what stays is in nobody's way
            sweep_up(self.path, WRITTEN)
            for left in self.checkpoints.glob(".step_*.tmp"):
                remove(left)

    def start(
        self,
        config: Mapping[str, Any],
        record: Mapping[str, Any],
        *,
        step: int = 0,
        lines: int = 0,
        resumed: Mapping[str, Any] = {},
    ) -> None:
        """Set the status to running. At step 0 write the resolved config and the record; a run that goes on keeps its
        first ones, says `resumed` in a list of the record, and drops the metrics beyond `step`. Raises UserError, and
        changes nothing, when fewer `lines` are left of them than there were at that step."""
        self._sweep()
        kept: list[dict[str, Any]] = []
        if step:
            first = read_json(self.path / "record.json")
            if said := wrong(first):
                raise UserError(f"{self.path / 'record.json'} is damaged: {said}; {ANEW}")
            record = {**first, "resumed": [*first.get("resumed", []), {"step": step, **resumed}]}
            kept = lines_until(self.path, step, lines)
        try:
            self._set("running", {})
            if step == 0:
                text = yaml.safe_dump(dict(config), sort_keys=False, allow_unicode=True)
                write_whole(self.path / "config.yaml", text.encode())
            write_whole(self.path / "record.json", (json_text(record, indent=1) + "\n").encode())
            self._keep(kept)
        except UserError as error:
            self._refused(step, str(error))
            raise

    def _refused(self, step: int, reason: str) -> None:
        """Say that the run did not begin; a disk that takes not even that is left without a status."""
        try:
            self._set("failed", {"step": step, "reason": reason})
        except UserError:
            with suppress(OSError):
                (self.path / "status.json").unlink(missing_ok=True)

    def log(self, *, step: int, split: Literal["train", "validation", "test"], **values: Any) -> None:
        """Append one line to metrics.jsonl and hand it to the system at once."""
        line = json_text({"step": step, "split": split, **values}) + "\n"
        with refusals(self.path), open(self.path / "metrics.jsonl", "ab", buffering=0) as file:
            file.write(line.encode())
        self._count(step, split)

    def lines(self, step: int) -> int:
        """How many lines a checkpoint of that step can count on: all but the held-out scores of the step itself, which
        may also be written after it."""
        scored, count = self._scores
        return self._lines - (count if scored == step else 0)

    def flush(self) -> None:
        """Wait until the disk has all lines, so that no checkpoint outlives those it counts."""
        path = self.path / "metrics.jsonl"
        with refusals(self.path), open(path, "ab") as file:
            os.fsync(file.fileno())

    @property
    def written(self) -> int:
        """How many lines metrics.jsonl has."""
        return self._lines

    def drop_scores(self, step: int) -> None:
        """Remove the lines of held-out splits of that step: they are to be written once."""
        self._keep([one for one in read_metrics(self.path) if one["step"] != step or one.get("split") == "train"])

    def finish(self, state: State, **details: Any) -> None:
        """Say how the run ended; nothing is written after it."""
        self._set(state, details)

    def _keep(self, lines: list[dict[str, Any]]) -> None:
        write_whole(self.path / "metrics.jsonl", "".join(json_text(line) + "\n" for line in lines).encode())
        self._lines, self._scores = 0, (0, 0)
        for one in lines:
            self._count(one["step"], one.get("split"))

    def _count(self, step: int, split: str | None) -> None:
        self._lines += 1
        if split != "train":
            before, count = self._scores
            self._scores = (step, count + 1 if before == step else 1)

    def _set(self, state: State, details: Mapping[str, Any]) -> None:
        if state not in get_args(State):
            raise ValueError(f"no state '{state}'; choose from {', '.join(get_args(State))}")
        status = {"state": state, "pid": os.getpid(), "host": socket.gethostname(), **details}
        write_whole(self.path / "status.json", (json_text(status) + "\n").encode())
