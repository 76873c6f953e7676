"""Files that are either whole or absent, and JSON that every reader accepts."""

import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from zoo.errors import UserError


def json_text(value: Any, indent: int | None = None) -> str:
    """Strict JSON: a number that is not finite becomes null, never a bare NaN. Raises TypeError for other objects."""
    return json.dumps(_strict(value), indent=indent, allow_nan=False, ensure_ascii=False)


def canonical_json(value: Any) -> str:
    """The one text of a value: sorted keys, no spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False)


def read_json(path: Path) -> dict[str, Any]:
    """The object in a file. Raises UserError when the file is missing or damaged."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{path} is missing or damaged ({error})") from error
    if not isinstance(found, dict):
        raise UserError(f"{path} is damaged: it holds no object")
    return found


def write_whole(path: Path, data: bytes) -> None:
    """Write beside, flush to the disk, rename: readers see the old file or the new one."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with refusals(path.parent):
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


def flush_folder(path: Path) -> None:
    """Wait until the disk has the folder's list of names."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def refusals(folder: Path) -> Iterator[None]:
    """A full disk, a read-only folder and the like become a UserError that names the folder."""
    try:
        yield
    except OSError as error:
        raise UserError(f"cannot write into {folder}: {error.strerror or error}") from error


def _strict(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _strict(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
