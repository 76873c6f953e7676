"""Files that one process at a time holds."""

from pathlib import Path

from filelock import FileLock


def lock_at(path: Path) -> FileLock:
    """The lock that this file is. Raises OSError where the file cannot be made: the lock alone would try for ever, or
    say that another process holds it."""
    path.touch()
    return FileLock(path)
