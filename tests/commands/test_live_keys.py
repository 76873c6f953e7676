"""Keys whose arithmetic is tested elsewhere reach it from the command line."""

import json
from pathlib import Path

import torch

from tests.commands.conftest import TINY, Command


def test_the_z_loss_of_the_output_is_added_when_its_coefficient_is_set(command: Command, tmp_path: Path) -> None:
    assert command("train", *TINY, "objective.output_z=0.1", "record.log_every=1").code == 0
    (metrics,) = tmp_path.glob("runs/*/metrics.jsonl")
    lines = [json.loads(line) for line in metrics.read_text().splitlines()]
    assert all(line["output_z"] > 0 for line in lines if line["split"] == "train")
    assert not any("output_z" in line for line in lines if line["split"] != "train")


def test_float16_is_computed_with_a_scale_that_a_resumed_run_finds_again(command: Command, tmp_path: Path) -> None:
    assert command("train", *TINY[:-1], "runtime.dtype=float16").code == 0
    (state,) = tmp_path.glob("runs/*/checkpoints/*/train_state.pt")
    assert torch.load(state, weights_only=True)["scale"]["scale"] > 0
    (record,) = tmp_path.glob("runs/*/record.json")
    assert json.loads(record.read_text())["machinery"]["dtype"] == "float16"
