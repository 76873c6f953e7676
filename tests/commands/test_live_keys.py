"""Keys whose arithmetic is tested elsewhere reach it from the command line."""

import json
from pathlib import Path

import pytest
import torch

from tests.commands.conftest import TINY, Command


def test_the_z_loss_of_the_output_is_added_when_its_coefficient_is_set(command: Command, tmp_path: Path) -> None:
    assert command("train", *TINY, "objective.output_z=0.1", "record.log_every=1").code == 0
    (metrics,) = tmp_path.glob("runs/*/metrics.jsonl")
    lines = [json.loads(line) for line in metrics.read_text().splitlines()]
    assert all(line["output_z"] > 0 for line in lines if line["split"] == "train")
    assert not any("output_z" in line for line in lines if line["split"] != "train")


def test_float16_is_computed_with_a_scale_that_a_resumed_run_finds_again(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_fp16_supported", lambda: False)
    done = command("train", *TINY[:-1], "runtime.dtype=float16")
    assert done.code == 0
    assert "float16 is emulated here" in done.out + done.err
    (folder,) = tmp_path.glob("runs/*/")
    assert "float16 is emulated here" in command("evaluate", f"run='{folder}'", "batches=1").err
    (state,) = tmp_path.glob("runs/*/checkpoints/*/train_state.pt")
    assert torch.load(state, weights_only=True)["scale"]["scale"] > 0
    (record,) = tmp_path.glob("runs/*/record.json")
    assert json.loads(record.read_text())["machinery"]["dtype"] == "float16"


def test_logits_in_blocks_train_the_same_run_and_are_recorded(command: Command, tmp_path: Path) -> None:
    losses = []
    for way in ("whole", "blocks"):
        assert (
            command("train", *TINY, f"runtime.logits={way}", f"out='{tmp_path / way}'", "record.log_every=1").code == 0
        )
        (folder,) = tmp_path.glob(f"{way}/*/")
        assert json.loads((folder / "record.json").read_text())["machinery"]["logits"] == way
        lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
        losses.append([line["loss"] for line in lines])
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
