"""Paths start from the launch folder, also where Hydra moves each job into a folder of its own."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import yaml

from tests.commands.conftest import TINY, Command
from zoo.data.files import from_launch
from zoo.training import runtime
from zoo.training.run import read_record, read_status

MOVED = ("hydra.job.chdir=true", "hydra.run.dir=moved")


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders in which the speed of the machine is kept."""
    found: list[Path] = []

    def pays(device: torch.device, cache: Path) -> bool:
        found.append(cache.absolute())
        return False

    monkeypatch.setattr(runtime, "bfloat16_pays", pays)
    return found


@pytest.fixture
def options(text: Path) -> tuple[str, ...]:
    """A run whose every path is relative, in a dtype that the measured speed of the machine decides on."""
    few = [one for one in TINY if not one.startswith("runtime.dtype")]
    return ("data=text", f"data.path='{text.name}'", "cache=tokens", "out=here", "tokenizer=bytes", *few)


def folders(root: Path) -> set[str]:
    """What lies in a folder."""
    return {path.name for path in root.iterdir()}


def test_a_run_that_hydra_moves_writes_where_it_was_launched_and_goes_on_from_there(
    command: Command, tmp_path: Path, text: Path, options: tuple[str, ...], measured: list[Path]
) -> None:
    assert command("train", *options, *MOVED).code == 0
    (run,) = (tmp_path / "here").iterdir()
    assert folders(tmp_path) == {text.name, "tokens", "here", "moved"}
    assert not folders(tmp_path / "moved")
    assert yaml.safe_load((run / "config.yaml").read_text())["out"] == "here"
    (run / "status.json").unlink()  # as if it had been killed at the end
    done = command("train", f"resume=here/{run.name}", *MOVED)
    assert done.code == 0, done.err
    assert read_record(run)["resumed"][0]["step"] == 4
    assert (read_status(run) or {})["state"] == "done"
    assert folders(tmp_path) == {text.name, "tokens", "here", "moved"}
    assert not folders(tmp_path / "moved")
    assert set(measured) == {tmp_path / "tokens"}
    again = command("train", *options)
    assert "nothing to do" in again.out
    assert again.out.startswith(f"here/{run.name}")  # not moved, it is called as it was given


def test_a_sweep_whose_jobs_hydra_moves_writes_where_it_was_launched(
    command: Command, tmp_path: Path, text: Path, options: tuple[str, ...], measured: list[Path]
) -> None:
    done = command("train", "-m", *options, "seed=0,1", "hydra.job.chdir=true", "hydra/launcher=basic")
    assert done.code == 0, done.err
    assert folders(tmp_path) == {text.name, "tokens", "here"}
    runs = [path for path in (tmp_path / "here").iterdir() if path.name != "sweeps"]
    assert [(read_status(run) or {})["state"] for run in runs] == ["done", "done"]
    (sweep,) = (tmp_path / "here" / "sweeps").iterdir()
    assert not [path for path in sweep.rglob("*") if path.is_dir()]
    assert set(measured) == {tmp_path / "tokens"}


@pytest.mark.parametrize(
    "asked",
    [
        ("json=said.json",),
        ("json=said.json", "generate.prompt=line", "generate.max_new_tokens=2", "generate.draft={run}"),
        ("attention.text=line", "attention.out=said.json"),
    ],
)
def test_an_evaluation_that_hydra_moves_reads_and_writes_where_it_was_launched(
    command: Command, tmp_path: Path, trained: Callable[..., Path], asked: tuple[str, ...]
) -> None:
    run = trained().relative_to(tmp_path)
    before = folders(tmp_path)
    done = command("evaluate", f"run={run}", *(one.format(run=run) for one in asked), *MOVED)
    assert done.code == 0, done.err
    assert folders(tmp_path) == before | {"said.json", "moved"}
    assert not folders(tmp_path / "moved")


def test_without_a_job_of_hydra_a_path_stays_as_it_is_given() -> None:
    assert from_launch("runs/one") == "runs/one"
