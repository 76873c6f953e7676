"""What a run says of itself at its end changes nothing of the run."""

import json
from pathlib import Path

import pytest
import torch

from tests.commands.conftest import TINY, Command
from tests.helpers import composed
from zoo.assembly import build_model
from zoo.config import parse_model
from zoo.training.gradients import gradient_norms, unclipped

RECORD = ("record.gradients_every=2", "record.lengths=[8,16,24]", "record.log_every=1", "optimizer.clip=0.01")


def test_scores_at_other_lengths_and_gradients_are_written_and_change_nothing(
    command: Command, text: Path, tmp_path: Path
) -> None:
    options = ("data=text", f"data.path='{text}'", *TINY, "model/position=learned", "optimizer.clip=0.01")
    found = {}
    for name, record in (("with", RECORD[:3]), ("without", ("record.log_every=1",))):
        assert command("train", *options, *record, f"out={name}").code == 0
        (found[name],) = (tmp_path / name).iterdir()
    weights = [(folder / "checkpoints" / "step_4" / "model.safetensors").read_bytes() for folder in found.values()]
    assert weights[0] == weights[1]
    scores = json.loads((found["with"] / "scores.json").read_text())
    status = json.loads((found["with"] / "status.json").read_text())
    assert scores["test"] == status["scores"]["test"]
    at = {one["context"]: one for one in scores["lengths"]}
    assert at[16]["loss"] == pytest.approx(scores["test"]["loss"], rel=1e-6)
    assert at[8]["loss"] > 0
    assert at[24]["loss"] is None
    assert "16 apart" in at[24]["why"]
    assert "lengths" not in json.loads((found["without"] / "scores.json").read_text())
    lines = [json.loads(line) for line in (found["with"] / "metrics.jsonl").read_text().splitlines()]
    noted = [one for one in lines if "gradients" in one]
    assert [one["step"] for one in noted] == [2, 4]
    for one in noted:  # before clipping, so they add up to the global norm
        assert sum(norm**2 for norm in one["gradients"].values()) ** 0.5 == pytest.approx(one["grad_norm"], rel=1e-4)
    sublayers = {name.split(".blocks.")[1] for name in scores["gradients"]["initial"] if ".blocks." in name}
    assert sublayers == {f"{layer}.{part}" for layer in (0, 1) for part in ("mixer", "ffn", "mixer_norm", "ffn_norm")}
    assert scores["gradients"]["initial"] != scores["gradients"]["final"]


def test_norms_by_sublayer_add_up_to_those_of_the_parameters() -> None:
    model = build_model(parse_model(composed("model/size=tiny")["model"]), 50, 0)
    assert gradient_norms(model) == {}
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    total = sum(parameter.numel() for parameter in model.parameters())
    assert sum(norm**2 for norm in gradient_norms(model, 3.0).values()) == pytest.approx(9 * total)
    assert unclipped(5.0, None) == unclipped(0.5, 1.0) == unclipped(None, 1.0) == 1.0
    assert unclipped(5.0, 1.0) == pytest.approx(5.0)
