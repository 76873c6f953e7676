"""Files that are either whole or absent, and JSON that every reader accepts."""

import json
import math
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from zoo.errors import UserError

DEEPEST = 64
"""How deep lists and mappings of our own files may nest; the deepest of them nest about ten."""


ANEW = "remove the folder to begin anew"
"""What can be done about a run folder that is damaged."""


def json_text(value: Any, indent: int | None = None) -> str:
    """Strict JSON: a number that is not finite becomes null, never a bare NaN. Raises TypeError for other objects."""
    return json.dumps(_strict(value), indent=indent, allow_nan=False, ensure_ascii=False)


def canonical_json(value: Any) -> str:
    """The one text of a value: sorted keys, no spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False)


def parse_json(text: str | bytes) -> Any:
    """What the text says. Raises ValueError when it is no JSON, or nests so deep that no reader could walk it."""
    try:
        found = json.loads(text)
    except RecursionError as error:
        raise ValueError("it nests too deep") from error
    refuse_depth(found)
    return found


def refuse_depth(value: Any) -> None:
    """Raises ValueError when lists and mappings nest deeper than `DEEPEST`, or hold themselves."""
    level = {0: value}
    for _ in range(DEEPEST):
        holders = [one for one in level.values() if isinstance(one, dict | list)]
        inner = [one for holder in holders for one in (holder.values() if isinstance(holder, dict) else holder)]
        level = {id(one): one for one in inner}
        if not level:
            return
    raise ValueError("it nests too deep")


def read_json(path: Path) -> dict[str, Any]:
    """The object in a file. Raises UserError when the file is missing or damaged."""
    try:
        found = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{path} is missing or damaged ({error})") from error
    if not isinstance(found, dict):
        raise UserError(f"{path} is damaged: it holds no object")
    return found


def write_whole(path: Path, data: bytes) -> None:
    """Write beside, flush to the disk, rename: readers see the old file or the new one."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with refusals(path):
        try:
            write_flushed(beside, data)
            os.replace(beside, path)
        finally:
            beside.unlink(missing_ok=True)
        flush_folder(path.parent)


def write_flushed(path: Path, data: bytes) -> None:
    """Write a new file and wait until the disk has it."""
    with open(path, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def sweep_up(folder: Path, written: Iterable[str] = ()) -> None:
    """Remove what `write_whole` left when its process was killed. Files named in `written` have no writer but the
    caller, of whatever process they tell; for others the process must be gone."""
    for left in folder.glob(".*.tmp"):
        found = re.fullmatch(r"\.(.+)\.([0-9]{1,9})\.tmp", left.name)
        if found and (found[1] in written or not _lives(int(found[2]))):
            left.unlink(missing_ok=True)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True  # of another user
    return True


def remove(path: Path) -> None:
    """Remove a folder with all that is in it, or a file."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def flush_folder(path: Path) -> None:
    """Wait until the disk has the folder's list of names."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def refusals(path: Path) -> Iterator[None]:
    """A full disk, a read-only folder and the like become a UserError that names the file or folder."""
    try:
        yield
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror or error}") from error


def refuse_unwritable(path: Path, key: str) -> None:
    """Raises UserError that names the config key for a file that could not be written, before there is anything to
    write."""
    folder = path.parent
    if not path.name:
        raise UserError(f"{key}={str(path)!r} must be a file to write to, or null")
    if path.is_dir():
        raise UserError(f"{key}: {path} is a folder; give a file to write to")
    if not folder.is_dir():
        raise UserError(f"{key}: there is no folder {folder} to write {path.name} into; make it, or give another")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UserError(f"{key}: nothing can be written into {folder}; give another place for {path.name}")


def _strict(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _strict(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
