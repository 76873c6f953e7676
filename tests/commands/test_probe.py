"""Weights that mean something else than when they were saved are told by what the model computes."""

import hashlib
import json
from pathlib import Path

import pytest
import safetensors.torch
import torch

import zoo
from tests.commands.conftest import TINY, Command
from tests.helpers import OPTIONS, TOPOLOGIES, model
from zoo.errors import UserError
from zoo.probe import check_probe, probe
from zoo.training.manifest import seal


def test_a_transposed_square_tensor_in_a_file_of_another_tool_is_refused(command: Command, tmp_path: Path) -> None:
    """Every square matrix in turn, in a checkpoint whose digests and seal all fit."""
    assert command("train", *TINY, "budget.steps=3", "optimizer.ema=0.5").code == 0
    (checkpoint,) = tmp_path.glob("runs/*/checkpoints/step_3")
    file, about_file = checkpoint / "model.safetensors", checkpoint / "model.json"
    tensors, about = safetensors.torch.load_file(file), json.loads(about_file.read_text())
    square = [name for name, one in tensors.items() if one.ndim == 2 and one.shape[0] == one.shape[1]]
    assert len(square) > 1
    for name in square:
        safetensors.torch.save_file({**tensors, name: tensors[name].T.contiguous()}, file)
        about["sha256"]["model.safetensors"] = hashlib.sha256(file.read_bytes()).hexdigest()
        about_file.write_text(json.dumps({**about, "seal": seal(about)}))
        with pytest.raises(UserError, match="computes other logits than when it was saved"):
            zoo.load(checkpoint)
    resumed = command("train", f"resume='{checkpoint.parents[1]}'", "runtime.threads=1")
    assert "other logits" in resumed.err or "done already" in resumed.out


@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize("mixer", OPTIONS["mixer"])
def test_the_probe_of_a_model_is_that_of_its_copy_and_of_no_other(mixer: str, topology: str) -> None:
    built = model(mixer=mixer, topology=topology, dropout=0.5).train()
    saved = json.loads(json.dumps(probe(built)))
    assert built.training
    built.attention = "fused"
    check_probe(built, saved, "it")
    assert built.attention == "fused"
    with torch.no_grad():
        built.topology.stack.blocks[0].mixer.v.weight[0] += 0.1
    with pytest.raises(UserError, match="other logits"):
        check_probe(built, saved, "it")


def test_a_probe_that_is_no_list_is_damage_and_none_is_no_probe() -> None:
    check_probe(model(), None, "it")
    with pytest.raises(UserError, match="it is damaged"):
        check_probe(model(), "text", "it")
