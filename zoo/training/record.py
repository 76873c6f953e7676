"""What is worth knowing about a run later: choices, code, machine, data, costs."""

import os
import platform
import subprocess
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
"""The folder that the package lies in."""

CODE = ("zoo", "conf", "hydra_plugins", "train.py", "evaluate.py")
"""What a run depends on; a text or an exported model beside it is no change."""

PACKAGES = ("torch", "numpy", "hydra-core", "omegaconf", "tokenizers", "transformer-zoo")


def environment() -> dict[str, Any]:
    """Commit, versions and machine."""
    return {
        **_code(),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
        "machine": {"system": platform.platform(), "processor": processor(), "cores": cores()},
    }


def code_differs(before: Mapping[str, Any]) -> str:
    """How the code of a record, or of a place where its run went on, differs from this one's, as in 'commit 1a2b3c4
    instead of 5d6e7f8'; nothing when it does not."""
    here = environment()
    for then in (before, *before.get("resumed", [])):
        words = [_words(one) for one in (then, here)]
        if words[0] and words[0] != words[1]:
            return f"{words[0]} instead of {words[1]}"
        if words[0] and then.get("dirty"):
            return f"{words[0]}, which need not be those of now"
    return ""


def _words(code: Mapping[str, Any]) -> str:
    """The commit of a record, or the version where there is none; nothing where neither is known."""
    if not code.get("commit"):
        version = code.get("packages", {}).get("transformer-zoo")
        return f"version {version}" if version else ""
    return f"commit {code['commit'][:7]}{' with changes' if code.get('dirty') else ''}"


def _code() -> dict[str, Any]:
    """The commit, and whether code and configs differ from it; null for both when this package does not lie at the root
    of a checkout: the repository around an installed package is another project's."""
    top = _git("rev-parse", "--show-toplevel")
    if top is None or Path(top).resolve() != ROOT:
        return {"commit": None, "dirty": None}
    changes = _git("status", "--porcelain", "--", *CODE)
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
