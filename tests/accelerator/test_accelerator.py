"""There is no accelerator where the tests run, so one is pretended; it lives in a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("what", ["meet or preset or backend", "option", "run"])
def test_everything_computes_there_what_it_computes_on_the_processor(what: str) -> None:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "tests/accelerator/on_the_device.py",
        "-k",
    ]
    done = subprocess.run([*command, what], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-6000:]
    assert " passed" in done.stdout
