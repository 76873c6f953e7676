"""Folders that were meant by a path that is none."""

import glob
from pathlib import Path

ROOTS = ("runs", "runs/studies", "runs/sweeps")
"""Where a bare name is looked for too."""

SHOWN = 3


def folders_like(path: Path) -> str:
    """' (did you mean runs/modern-toy-1a2b?)': the folders whose names begin so, at most three; else nothing."""
    roots = [path.parent, *(map(Path, ROOTS) if len(path.parts) == 1 else ())]
    try:
        found = [one for root in roots for one in sorted(root.glob(f"{glob.escape(path.name)}*")) if one.is_dir()]
    except (OSError, ValueError):  # no path at all
        return ""
    if not path.name or not found:
        return ""
    return f" (did you mean {' or '.join(map(str, found[:SHOWN]))}?)"
