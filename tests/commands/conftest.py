"""Commands run in this process, as the shell would run them."""

import importlib
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from jaxtyping import config as shape_checks

from tests.commands.started import Started, laid_over
from zoo.cli import run
from zoo.paths import CONF

ROOT = Path(__file__).resolve().parents[2]

AS_A_COMMAND = """
import runpy
sys.argv = sys.argv[1:]
sys.path.insert(0, ".")
if sys.argv[0] == "zoo":
    runpy.run_module("zoo", run_name="__main__")
else:
    runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""The end of a program that does something to `sys` and then is `train.py …`, `evaluate.py …` or `zoo …`."""


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str


Command = Callable[..., Done]

OF_A_CORPUS = ("data=", "data.tokens=", "resume=", "study=", "--")
"""How overrides begin that say what is read, or that nothing is."""


@pytest.fixture(scope="session")
def checked() -> set[frozenset[str]]:
    """The kinds of commands that came to their end with the shapes of all calls checked."""
    return set()


def kind(script: str, overrides: tuple[str, ...]) -> frozenset[str]:
    """A command without its numbers, texts and paths. Those of one kind make the same calls, whose shapes are checked
    in the first of them."""
    keys = {one: one.partition("=")[0] for one in overrides}
    return frozenset({script, *(one if (CONF / key.partition("@")[0]).is_dir() else key for one, key in keys.items())})


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    checked: set[frozenset[str]],
) -> Command:
    """`command("train", "model=gpt2", ...)` runs train.py with these overrides from an empty folder. A run that
    names no corpus, nor the size of the default one, reads one that need not be made first, with little to score."""

    def call(script: str, *overrides: str, folder: Path = tmp_path) -> Done:
        if script == "train" and not any(one.startswith(OF_A_CORPUS) for one in overrides):
            few = () if any(one.startswith("data.split") for one in overrides) else ("data.split=[0.98,0.01,0.01]",)
            overrides = (*overrides, "data=pydoc", *few)
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "argv", [f"{script}.py", *laid_over(overrides)])
        monkeypatch.setattr(HydraConfig.instance(), "cfg", None)  # a sweep leaves its own behind
        GlobalHydra.instance().clear()
        capsys.readouterr()
        code, unchecked = 0, shape_checks.jaxtyping_disable
        shape_checks.update("jaxtyping_disable", unchecked or kind(script, overrides) in checked)
        try:
            run(importlib.import_module(script).main, script)
        except SystemExit as end:
            code = int(end.code or 0)
        finally:
            shape_checks.update("jaxtyping_disable", unchecked)
        if code == 0 and not unchecked:
            checked.add(kind(script, overrides))
        said = capsys.readouterr()
        return Done(code, said.out, said.err)

    return call


@pytest.fixture
def start(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Started]]:
    """`start("train", "model=gpt2", ...)` runs train.py with these overrides in a process of its own, from an empty
    folder. It is gone after the test."""
    begun: list[Started] = []

    def call(script: str, *words: str, folder: Path = tmp_path, **keys: Any) -> Started:
        begun.append(Started(script, *words, folder=folder, said=tmp_path_factory.mktemp("said"), **keys))
        return begun[-1]

    yield call
    for one in begun:
        one.end()


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """A small text file with some structure."""
    path = tmp_path / "my text.txt"
    lines = [f"line {i} says that {i} plus {i} is {2 * i}, and nothing else\n" for i in range(300)]
    path.write_text("".join(lines))
    return path


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """A small file of pairs."""
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{i}\tnumber {i}\n" for i in range(200)))
    return path


@pytest.fixture(scope="session")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The override of a folder in which each corpus is made for the first test that reads it, and found by the
    others."""
    return f"cache='{tmp_path_factory.mktemp('corpora')}'"


TINY = (
    "model/size=tiny",
    "model.d_model=16",
    "budget.steps=4",
    "budget.batch_size=4",
    "budget.context=16",
    "budget.evaluate_batches=2",
    "schedule.warmup=1",
    "runtime.threads=1",
    "runtime.dtype=float32",
)
"""A run of a second."""


@pytest.fixture(scope="session")
def kept() -> dict[tuple[str, ...], Path]:
    """The words of runs that were trained, and copies of the folders that those were started in."""
    return {}


@pytest.fixture
def trained(
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
    text: Path,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    kept: dict[tuple[str, ...], Path],
) -> Callable[..., Path]:
    """`trained("model=gpt2")` is the folder of such a run of a second, on the text unless it names other data: trained
    for the first test that asks for it, a copy for the others."""

    def copy(here: Path, there: Path) -> Path:
        for found in (here / "runs", here / ".cache"):
            if found.exists():
                shutil.copytree(found, there / found.name)
        return there

    def call(*words: str) -> Path:
        monkeypatch.chdir(tmp_path)
        if words in kept:
            copy(kept[words], tmp_path)
        else:
            named = any(word.startswith("data=") for word in words)
            data = () if named else ("data=text", f"data.path='{text}'")
            done = command("train", *data, *TINY, *words)
            assert done.code == 0, done.err
            kept[words] = copy(tmp_path, tmp_path_factory.mktemp("kept"))
        (folder,) = (tmp_path / "runs").iterdir()
        return folder

    return call
