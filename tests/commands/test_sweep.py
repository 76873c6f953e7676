"""A sweep goes on whatever becomes of one job, tells each failure, and leaves nothing in the launch folder."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.commands.conftest import TINY, Command
from zoo.errors import UserError
from zoo.sweep.ending import ending
from zoo.sweep.notes import Note
from zoo.terminal import show


@pytest.fixture
def options(text: Path) -> tuple[str, ...]:
    """A sweep on a small text."""
    return ("-m", "data=text", f"data.path='{text}'", *TINY, "optimizer.clip=null", "hydra/launcher=basic")


def test_bad_input_and_divergence_in_one_job_do_not_end_the_others(
    command: Command, tmp_path: Path, options: tuple[str, ...]
) -> None:
    done = command("train", *options, "optimizer.lr=1e30,-1,1e-3")
    assert done.code == 1
    assert "optimizer.lr=-1.0 must be positive" in done.err
    assert "  [lr=-1, seed 0]" in done.err
    assert "not finite" in done.err
    assert done.err.count("error: ") == 2
    table = [line.split(maxsplit=2) for line in done.out.splitlines() if line[:1].isdigit()]
    assert table == [["0", "diverged", "lr=1e+30, seed 0"], ["1", "bad", "input  lr=-1, seed 0"]]
    assert "/<job>.json has all overrides of a job, <job>.log what it printed" in done.out
    assert {path.name for path in tmp_path.iterdir()} == {text_name(options), ".cache", "runs"}
    (sweep,) = (tmp_path / "runs" / "sweeps").iterdir()
    assert {path.name for path in sweep.iterdir() if not path.name.startswith("runtime-")} == {
        *(f"{job}.{kind}" for job in range(3) for kind in ("json", "log")),
        "study.json",
        ".lock",
    }


def text_name(options: tuple[str, ...]) -> str:
    """The name of the text file."""
    return Path(options[2].partition("=")[2].strip("'")).name


def test_the_code_is_2_when_all_that_failed_is_bad_input(command: Command, options: tuple[str, ...]) -> None:
    done = command("train", *options, "optimizer.lr=-1,1e-3")
    assert done.code == 2
    done = command("train", *options, "optimizer.lr=1e-3,1e-4")
    assert done.code == 0
    told = done.out.partition(": 2 done\n")[2].splitlines()
    assert [line.partition("=")[0] for line in told] == ["verdicts: python evaluate.py study"]


@pytest.mark.parametrize("error", [SystemExit(3), RuntimeError("broken"), MemoryError()])
def test_any_error_in_a_job_is_that_jobs_alone(
    command: Command, options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    from zoo.jobs import train as module

    calls = []

    def job(*arguments: object) -> None:
        calls.append(arguments)
        if len(calls) == 1:
            raise error

    monkeypatch.setattr(module, "train", job)
    done = command("train", *options, "seed=0,1")
    assert done.code == 1
    assert len(calls) == 2
    assert f"error: {type(error).__name__}" in done.err


def test_no_run_starts_after_one_that_fails_when_the_study_is_to_fail_fast(
    command: Command, tmp_path: Path, options: tuple[str, ...]
) -> None:
    done = command("train", *options, "optimizer.lr=1e-3,1e30,1e-4", "fail_fast=true")
    assert done.code == 1
    assert len(list(tmp_path.glob("runs/modern*"))) == 2
    (sweep,) = (tmp_path / "runs" / "sweeps").iterdir()
    states = {int(file.stem): json.loads(file.read_text())["state"] for file in sweep.glob("[0-9].json")}
    assert states == {0: "done", 1: "diverged"}


def test_a_job_leaves_nothing_to_the_next_one_of_its_process(
    command: Command, tmp_path: Path, options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    from zoo.jobs import train as module
    from zoo.jobs.fresh import start_fresh

    train, prepare, calls, seen = module.train, module.prepare, [], []

    def job(*arguments: Any) -> Path:
        calls.append(arguments)
        if len(calls) == 2:
            spoil()
            assert [key for key, value in process().items() if value == seen[0][key]] == []
        return train(*arguments)

    def look(*arguments: Any) -> Any:
        seen.append(process())
        return prepare(*arguments)

    monkeypatch.setattr(module, "train", job)
    monkeypatch.setattr(module, "prepare", look)
    try:
        assert command("train", *options, "seed=1,0").code == 0
    finally:
        start_fresh()
    assert seen[0] == seen[1]
    monkeypatch.setattr(module, "train", train)
    assert command("train", *options[1:], "seed=0", "out=alone").code == 0
    (alone,) = (tmp_path / "alone").iterdir()
    here, there = (
        folder / "checkpoints/step_4/model.safetensors" for folder in (alone, tmp_path / "runs" / alone.name)
    )
    assert here.read_bytes() == there.read_bytes()


def process() -> dict[str, Any]:
    """What a job could leave behind."""
    import torch

    return {
        "dtype": torch.get_default_dtype(),
        "device": torch.get_default_device(),
        "gradients": torch.is_grad_enabled(),
        "autocast": torch.is_autocast_enabled("cpu"),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "filled": torch.utils.deterministic.fill_uninitialized_memory,
        "products": torch.get_float32_matmul_precision(),
        "random": random.getstate(),
        "numpy": str(np.random.get_state()),
        "torch": torch.get_rng_state().tolist(),
    }


def spoil() -> None:
    """Leave all of it otherwise than it was."""
    import torch

    torch.set_default_dtype(torch.float64)
    torch.set_default_device("meta")
    torch.set_grad_enabled(False)
    torch.set_autocast_enabled("cpu", True)
    torch.use_deterministic_algorithms(True)
    torch.utils.deterministic.fill_uninitialized_memory = False
    torch.set_float32_matmul_precision("medium")
    random.seed(1)
    np.random.seed(1)
    torch.manual_seed(1)


def test_an_interruption_ends_the_sweep(
    command: Command, options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    from zoo.jobs import train as module

    calls = []

    def job(*arguments: object) -> None:
        calls.append(arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "train", job)
    done = command("train", *options, "seed=0,1")
    assert done.code == 130
    assert len(calls) == 1
    assert "interrupted; go on with: python train.py -m" in done.err


def test_no_job_seems_to_run_when_the_disk_does_not_take_how_it_ended(
    command: Command, options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(self: Note, *words: object) -> None:
        raise UserError("cannot write 0.json: No space left on device")

    monkeypatch.setattr(Note, "end", refused)
    done = command("train", *options, "seed=0,1")
    assert done.code == 2
    assert done.err.splitlines()[-1] == "error: cannot write 0.json: No space left on device"
    assert ": 2 interrupted" in done.out


def test_no_run_starts_when_the_study_is_stopped_while_its_note_is_written(
    command: Command, tmp_path: Path, options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who stops it may have looked for notes before."""
    from zoo.jobs import train as module
    from zoo.sweep.notes import read_notes, stop

    write, calls = Note.write, []

    def late(self: Note, root: Path) -> None:
        write(self, root)
        stop(root)

    monkeypatch.setattr(Note, "write", late)
    monkeypatch.setattr(module, "train", lambda *job: calls.append(job))
    command("train", *options, "seed=0,1")
    assert not calls
    (sweep,) = (tmp_path / "runs" / "sweeps").iterdir()
    assert [note.state for note in read_notes(sweep).values()] == ["interrupted"]


def test_a_sweep_that_is_refused_before_its_first_job_leaves_nothing(
    command: Command, tmp_path: Path, options: tuple[str, ...]
) -> None:
    done = command("train", *options, "model/norm=nosuch,none")
    assert done.code == 2
    assert "no model/norm 'nosuch'" in done.err
    assert {path.name for path in tmp_path.iterdir()} == {text_name(options)}


def test_evaluations_are_swept_too(command: Command, trained: Callable[..., Path], tmp_path: Path) -> None:
    folder = trained()
    done = command("evaluate", "-m", f"run='{folder}'", "batch_size=0,2")
    assert done.code == 2
    assert "batch_size=0 must be at least 1" in done.err
    assert not (tmp_path / "multirun.yaml").exists()
    assert "/<job>.json has all overrides of a job\n" in done.out  # and it printed what it had to say
    assert [line.split() for line in done.out.splitlines() if line.startswith("0 ")] == [
        ["0", "bad", "input", "batch_size=0"]
    ]


def test_of_many_jobs_that_failed_the_first_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    notes = {number: Note(number, ("model=gpt2", f"seed={number}"), "failed") for number in range(90)}
    show(*ending(tmp_path, notes))
    said = capsys.readouterr().out.splitlines()
    assert said[0] == f"{tmp_path}: 90 failed"
    assert [line.split() for line in said[2:-1]] == [[str(job), "failed", f"seed={job}"] for job in range(10)]
    assert said[-1] == f"and 80 more; {tmp_path}/<job>.json has all overrides of a job"


def test_two_sweeps_of_the_same_second_have_two_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from zoo import sweep

    monkeypatch.setattr("time.strftime", lambda form: "now")
    monkeypatch.setenv(sweep.VARIABLE, "")
    found = []
    for _ in range(2):
        sweep.MakeFolder(str(tmp_path)).on_multirun_start(None)
        found.append(sweep.folder())
    assert found == [tmp_path / "sweeps" / "now", tmp_path / "sweeps" / "now-1"]
