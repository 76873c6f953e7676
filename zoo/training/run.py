"""The run folder: one live writer, and files that tell at any moment how the run stands."""

import json
import os
import socket
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, get_args

import yaml
from filelock import FileLock, Timeout

from zoo.errors import UserError
from zoo.training.files import json_text, read_json, refusals, write_whole

State = Literal["running", "done", "failed", "diverged", "interrupted"]

ANEW = "remove the folder to begin anew"


def read_config(folder: Path) -> dict[str, Any]:
    """The resolved config of a run folder. Raises UserError when the folder is none."""
    try:
        node = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError, ValueError) as error:
        raise UserError(f"{folder} is no run folder: it has no readable config.yaml") from error
    if not isinstance(node, dict):
        raise UserError(f"{folder / 'config.yaml'} is empty or damaged; the run cannot be rebuilt from it")
    return node


def read_record(folder: Path) -> dict[str, Any]:
    """What record.json of a run folder says. Raises UserError when it is missing or damaged."""
    try:
        record = read_json(folder / "record.json")
    except UserError as error:
        raise UserError(f"{error}; {ANEW}") from error
    for key in ("choices", "overrides", "science", "machinery"):
        if key not in record or (key in ("science", "machinery") and not isinstance(record[key], dict)):
            raise UserError(f"{folder / 'record.json'} lacks {key}; {ANEW}")
    return record


def read_status(folder: Path) -> dict[str, Any] | None:
    """What status.json says, or None when the folder has none. A killed process leaves "running" behind. Raises
    UserError when it is damaged."""
    path = folder / "status.json"
    if not path.exists():
        return None
    status = read_json(path)
    if status.get("state") not in get_args(State):
        raise UserError(f"{path} is damaged: it has no state; {ANEW}")
    return status


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    """The lines of metrics.jsonl; the torn last line of a killed process is left out. Raises UserError for another line
    that is damaged."""
    path = folder / "metrics.jsonl"
    lines = path.read_bytes().split(b"\n") if path.exists() else []
    found = []
    for number, line in enumerate(lines[:-1], start=1):  # what follows the last newline is nothing, or torn
        try:
            found.append(json.loads(line))
            int(found[-1]["step"])
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(f"{path} is damaged in line {number}; {ANEW}") from error
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

    def start(
        self, config: Mapping[str, Any], record: Mapping[str, Any], *, step: int = 0, resumed: Mapping[str, Any] = {}
    ) -> None:
        """Set the status to running. At step 0 write the resolved config and the record; a run that goes on keeps its
        first ones, says `resumed` in a list of the record, and drops the metrics beyond `step`."""
        self._set("running", {})
        if step == 0:
            text = yaml.safe_dump(dict(config), sort_keys=False, allow_unicode=True)
            write_whole(self.path / "config.yaml", text.encode())
        else:
            first = read_json(self.path / "record.json")
            record = {**first, "resumed": [*first.get("resumed", []), {"step": step, **resumed}]}
        write_whole(self.path / "record.json", (json_text(record, indent=1) + "\n").encode())
        self._keep([line for line in read_metrics(self.path) if line["step"] <= step] if step else [])

    def log(self, *, step: int, split: Literal["train", "validation", "test"], **values: Any) -> None:
        """Append one line to metrics.jsonl and hand it to the system at once."""
        line = json_text({"step": step, "split": split, **values}) + "\n"
        with refusals(self.path), open(self.path / "metrics.jsonl", "ab", buffering=0) as file:
            file.write(line.encode())

    def drop_scores(self, step: int) -> None:
        """Remove the lines of held-out splits of that step: they are to be written once."""
        self._keep([one for one in read_metrics(self.path) if one["step"] != step or one["split"] == "train"])

    def finish(self, state: State, **details: Any) -> None:
        """Say how the run ended; nothing is written after it."""
        self._set(state, details)

    def _keep(self, lines: list[dict[str, Any]]) -> None:
        write_whole(self.path / "metrics.jsonl", "".join(json_text(line) + "\n" for line in lines).encode())

    def _set(self, state: State, details: Mapping[str, Any]) -> None:
        if state not in get_args(State):
            raise ValueError(f"no state '{state}'; choose from {', '.join(get_args(State))}")
        status = {"state": state, "pid": os.getpid(), "host": socket.gethostname(), **details}
        write_whole(self.path / "status.json", (json_text(status) + "\n").encode())
