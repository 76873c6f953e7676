"""A run that stops goes on as if it had not."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.commands.conftest import ROOT, TINY, Command

STEPS = (
    "budget.steps=12",
    "record.log_every=1",
    "record.checkpoint_every=3",
    "model.dropout=0.2",
    "budget.accumulate=2",
    "optimizer.ema=0.9",
)


def lines(folder: Path) -> list[dict]:
    """The metrics of a run, without what depends on the clock."""
    found = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{k: v for k, v in line.items() if k not in ("seconds", "tokens_per_second")} for line in found]


def only(root: Path) -> Path:
    """The one folder in there."""
    (found,) = root.iterdir()
    return found


@pytest.mark.parametrize("model", ["modern", "mixtral"])
def test_a_killed_run_goes_on_to_the_same_bits(command: Command, text: Path, tmp_path: Path, model: str) -> None:
    options = (f"model={model}", "data=text", f"data.path='{text}'", *TINY, *STEPS)
    assert command("train", *options, "out=straight").code == 0
    killed = tmp_path / "killed"
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "train.py"), *options, "out=killed"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    while process.poll() is None and not list(killed.glob("*/checkpoints/step_6")):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert command("train", f"resume='{only(killed)}'").code == 0
    assert lines(only(killed)) == lines(only(tmp_path / "straight"))
    weights = [
        root / "checkpoints" / "step_12" / "model.safetensors" for root in (only(killed), only(tmp_path / "straight"))
    ]
    assert weights[0].read_bytes() == weights[1].read_bytes()


def test_ctrl_c_saves_and_says_how_to_resume(text: Path, tmp_path: Path) -> None:
    options = (
        "data=text",
        f"data.path='{text}'",
        *TINY,
        *STEPS,
        "budget.steps=100000",
        "record.checkpoint_every=100000",
    )
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "train.py"), *options],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    for line in process.stdout:
        if line.startswith("step 2"):
            break
    os.kill(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    folder = only(tmp_path / "runs")
    assert f"resume=runs/{folder.name}" in err
    status = json.loads((folder / "status.json").read_text())
    assert status["state"] == "interrupted"
    assert (folder / "checkpoints" / f"step_{status['step']}").is_dir()


def test_a_resumed_run_says_when_its_data_has_changed(command: Command, text: Path, tmp_path: Path) -> None:
    options = ("data=text", f"data.path='{text}'", *TINY)
    assert command("train", *options).code == 0
    folder = only(tmp_path / "runs")
    (folder / "status.json").write_text('{"state": "running"}')
    text.write_text(text.read_text() + "more\n")
    done = command("train", f"resume='{folder}'")
    assert done.code == 2
    assert "changed" in done.err


def test_a_diverged_run_names_the_step_and_the_layer(command: Command, text: Path, tmp_path: Path) -> None:
    options = ("data=text", f"data.path='{text}'", *TINY, "optimizer.lr=1e30", "optimizer.clip=null")
    done = command("train", *options)
    assert done.code == 1
    status = json.loads((only(tmp_path / "runs") / "status.json").read_text())
    assert status["state"] == "diverged"
    assert status["step"] >= 1
    assert status["layer"] in done.err


def test_a_run_on_a_relative_path_goes_on_from_another_folder(command: Command, text: Path, tmp_path: Path) -> None:
    options = ("data=text", f"data.path='{text.name}'", *TINY, "budget.steps=6")
    assert command("train", *options).code == 0
    folder = only(tmp_path / "runs")
    before = lines(folder)
    (folder / "status.json").write_text('{"state": "running"}')
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = command("train", f"resume='{folder}'", folder=elsewhere)
    assert done.code == 0, done.err
    assert lines(folder)[: len(before)] == before
    assert json.loads((folder / "record.json").read_text())["overrides"] == list(options)
