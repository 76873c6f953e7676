"""The run folder: one live writer, and files that tell at any moment how the run stands."""

import hashlib
import json
import os
import re
import socket
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, get_args

import yaml
from filelock import FileLock, Timeout

from zoo.errors import UserError
from zoo.training.files import canonical_json, json_text, refusals, write_whole

State = Literal["running", "done", "failed", "diverged", "interrupted"]


def run_name(choices: Iterable[str], science: Mapping[str, Any]) -> str:
    """`<slug>-<8 hex>`: the slug is made of the choices, at most 48 safe characters; the digits are of the SHA-256 of
    the science config (plain values), so the same science has the same name whatever machine or order it comes in."""
    slug = re.sub(r"[^a-z0-9.]+", "-", "-".join(choices).lower()).strip("-.")[:48].rstrip("-.")
    return f"{slug or 'run'}-{hashlib.sha256(canonical_json(science).encode()).hexdigest()[:8]}"


def read_status(folder: Path) -> dict[str, Any] | None:
    """What status.json says, or None when the folder has none. A killed process leaves "running" behind."""
    path = folder / "status.json"
    return json.loads(path.read_text()) if path.exists() else None


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    """The lines of metrics.jsonl; the torn last line of a killed process is left out."""
    path = folder / "metrics.jsonl"
    lines = path.read_bytes().split(b"\n") if path.exists() else []
    found = []
    for line in lines[:-1]:  # what follows the last newline is nothing, or torn
        found.append(json.loads(line))
    return found


class RunFolder:
    """`with RunFolder(path) as run:` makes the folder and holds its lock, which the system lets go of even when the
    process is killed. Raises UserError when another process writes there.

    run.start(config, record); run.log(...); run.finish("done")
    """

    def __init__(self, path: Path):
        self.path = path
        self.checkpoints = path / "checkpoints"
        self._lock = FileLock(path / ".lock")

    def __enter__(self) -> "RunFolder":
        with refusals(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
            try:
                self._lock.acquire(timeout=0)
            except Timeout:
                status = read_status(self.path) or {}
                raise UserError(
                    f"{self.path} is being written by process {status.get('pid', '(just started)')} on "
                    f"{status.get('host', 'this machine')}; wait for it, stop it, or choose another folder with out="
                ) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._lock.release()

    def start(self, config: Mapping[str, Any], record: Mapping[str, Any], *, step: int = 0) -> None:
        """Write the resolved config and the record, drop metrics beyond `step` (where a resumed run goes on), and
        set the status to running."""
        self._set("running", {})
        text = yaml.safe_dump(dict(config), sort_keys=False, allow_unicode=True)
        write_whole(self.path / "config.yaml", text.encode())
        write_whole(self.path / "record.json", (json_text(record, indent=1) + "\n").encode())
        kept = [line for line in read_metrics(self.path) if line["step"] <= step]
        write_whole(self.path / "metrics.jsonl", "".join(json_text(line) + "\n" for line in kept).encode())

    def log(self, *, step: int, split: Literal["train", "validation", "test"], **values: Any) -> None:
        """Append one line to metrics.jsonl and hand it to the system at once."""
        line = json_text({"step": step, "split": split, **values}) + "\n"
        with refusals(self.path), open(self.path / "metrics.jsonl", "ab", buffering=0) as file:
            file.write(line.encode())

    def finish(self, state: State, **details: Any) -> None:
        """Say how the run ended; nothing is written after it."""
        self._set(state, details)

    def _set(self, state: State, details: Mapping[str, Any]) -> None:
        if state not in get_args(State):
            raise ValueError(f"no state '{state}'; choose from {', '.join(get_args(State))}")
        status = {"state": state, "pid": os.getpid(), "host": socket.gethostname(), **details}
        write_whole(self.path / "status.json", (json_text(status) + "\n").encode())
