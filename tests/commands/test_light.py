"""Answers that need no torch do not import it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.conftest import AS_A_COMMAND, ROOT, TINY
from zoo.command.help import help_text

WITHOUT = """
import sys
class Forbid:
    def find_spec(self, name, path=None, target=None):
        if name.startswith(HEAVY):
            raise AssertionError(f"{name} was imported")
sys.meta_path.insert(0, Forbid())
"""

WITHOUT_TORCH = f"HEAVY = ('torch', 'numpy', 'transformers', 'scipy', 'plotly'){WITHOUT}{AS_A_COMMAND}"
WITHOUT_COMPILER = f"HEAVY = ('torch._dynamo', 'torch._inductor'){WITHOUT}{AS_A_COMMAND}"


@pytest.mark.parametrize(
    "arguments",
    [
        ("train.py", "--help"),
        ("train.py", "--cfg", "job"),
        ("train.py", "--info", "defaults"),
        ("evaluate.py", "--help"),
        ("zoo",),
        ("zoo", "list", "norm"),
        ("zoo", "--help"),
    ],
    ids=" ".join,
)
def test_help_and_listings_import_nothing_heavy(arguments: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = "import sys, zoo; assert 'torch' not in sys.modules; zoo.build; assert 'torch' in sys.modules"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr


def test_help_says_what_hydra_would_without_the_files_that_only_others_build_on() -> None:
    hydra = "import sys; sys.argv = ['train.py', '--help']; sys.path.insert(0, '.'); import train; train.main()"
    done = subprocess.run(
        [sys.executable, "-c", hydra], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    theirs = done.stdout.replace("_base, ", "").replace("_multirun, ", "")
    assert help_text("train", ["--help"]).split() == theirs.split()


def test_help_lists_options_of_a_folder_on_the_search_path(tmp_path: Path) -> None:
    (tmp_path / "model" / "norm").mkdir(parents=True)
    (tmp_path / "model" / "norm" / "mine.yaml").write_text("name: mine\n")
    assert "mine" in help_text("train", [f"hydra.searchpath=[{tmp_path}]", "--help"])


def test_an_eager_run_trains_and_is_found_without_the_compiler(text: Path, tmp_path: Path) -> None:
    for ends in ("done: ", "done already"):
        done = subprocess.run(
            [sys.executable, "-c", WITHOUT_COMPILER, str(ROOT / "train.py"), "data=text", f"data.path='{text}'", *TINY],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert ends in done.stdout
