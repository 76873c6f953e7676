"""What is worth knowing about a run later: choices, code, machine, data, costs."""

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
"""The folder that the package lies in."""

PACKAGES = ("torch", "numpy", "hydra-core", "omegaconf", "tokenizers", "transformer-zoo")


def environment() -> dict[str, Any]:
    """Commit, versions and machine."""
    return {
        **_code(),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
        "machine": {"system": platform.platform(), "processor": processor(), "cores": cores()},
    }


def _code() -> dict[str, Any]:
    """The commit, and whether files differ from it; null for both when this package does not lie at the root of a
    checkout: the repository around an installed package is another project's."""
    top = _git("rev-parse", "--show-toplevel")
    if top is None or Path(top).resolve() != ROOT:
        return {"commit": None, "dirty": None}
    changes = _git("status", "--porcelain")
    return {"commit": _git("rev-parse", "HEAD"), "dirty": None if changes is None else bool(changes)}


def _git(*arguments: str) -> str | None:
    """What git says here; None when it says nothing."""
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def processor() -> str:
    """The model name where the system tells it (Linux), else what Python knows."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
