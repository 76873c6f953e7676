"""Numbers that are needed while a corpus is built and may be more than memory holds: in files without a name, which are
gone with the process."""

import tempfile
from pathlib import Path
from typing import IO, Any

import numpy as np


def scratch_file(room: Path) -> IO[bytes]:
    """An empty file in that folder; where other programs have theirs, if the folder takes none."""
    try:
        room.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryFile(dir=room)
    except OSError:
        return tempfile.TemporaryFile()


def scratch_array(room: Path, dtype: Any, length: int) -> np.ndarray:
    """So many zeros, of which there must be one."""
    with scratch_file(room) as file:
        file.truncate(length * np.dtype(dtype).itemsize)
        return np.asarray(np.memmap(file, dtype=dtype, mode="r+", shape=(length,)))
