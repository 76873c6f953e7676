"""Ctrl-C ends a command in one word, whenever it comes."""

import subprocess
import sys

import pytest

from tests.commands.conftest import AS_A_COMMAND, ROOT

AT_AN_IMPORT = """
import os, signal, sys
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == MODULE:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupt())
"""
MODULES = ("hydra", "omegaconf", "yaml", "zoo.cli", "zoo.sweep", "zoo.command.hydra_errors")


def ended(module: str, *command: str) -> tuple[int, str, str]:
    """Exit code, output and errors of a command that is interrupted when it is about to import that module."""
    code = f"MODULE = {module!r}{AT_AN_IMPORT}{AS_A_COMMAND}"
    done = subprocess.run(
        [sys.executable, "-c", code, *command], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("command", ["train.py", "evaluate.py", "zoo"])
def test_ctrl_c_during_an_import_ends_in_one_word(command: str, module: str) -> None:
    assert ended(module, command, "--help") == (130, "", "interrupted\n")


def test_ctrl_c_while_torch_is_imported_does_too() -> None:
    assert ended("torch", "zoo", "show") == (130, "", "interrupted\n")


def test_another_error_of_an_import_keeps_its_traceback() -> None:
    code = "from zoo.interruption import end_quietly; end_quietly(); import no_such_module"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "ModuleNotFoundError" in done.stderr
