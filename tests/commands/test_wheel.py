"""The installed package works without a checkout."""

import subprocess
import sys
import zipfile
from pathlib import Path

from tests.commands.conftest import ROOT, TINY

USE = """
import torch, zoo
assert "unpacked" in zoo.__file__, zoo.__file__
model = zoo.build("llama", "model/norm=layernorm", "model.d_model=16", "model/size=tiny")
print(model(torch.zeros(1, 4, dtype=torch.long)).logits.shape)
"""


def test_a_wheel_carries_the_configs_and_the_commands(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "unpacked")
    elsewhere = {
        "cwd": tmp_path,
        "env": {"PYTHONPATH": str(tmp_path / "unpacked")},
        "capture_output": True,
        "text": True,
    }
    used = subprocess.run([sys.executable, "-c", USE], **elsewhere, check=False)
    assert used.stdout.strip() == "torch.Size([1, 4, 259])", used.stderr
    trained = subprocess.run([sys.executable, "-m", "zoo.train", *TINY, "data=pydoc"], **elsewhere, check=False)
    assert trained.returncode == 0, trained.stderr
    assert list((tmp_path / "runs").glob("*/status.json"))
