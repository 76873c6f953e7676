"""A run whose compiled code is wrong ends before its first update."""

import json
from pathlib import Path

import pytest
import torch
from torch import nn

from tests.commands.conftest import TINY, Command
from zoo.errors import RunFailed
from zoo.jobs import updates


@pytest.mark.parametrize("logits", ["whole", "blocks"])
def test_a_run_whose_code_is_right_goes_on(
    command: Command, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, logits: str
) -> None:
    """Here its code is the model as it is written, however logits are taken."""
    monkeypatch.setattr(nn.Module, "compile", lambda model: None)
    monkeypatch.setattr(torch, "compile", lambda function: function)
    runtime = ("runtime.compile=true", f"runtime.logits={logits}")
    assert command("train", *TINY, "data=text", f"data.path='{text}'", *runtime).code == 0
    (folder,) = (tmp_path / "runs").iterdir()
    assert json.loads((folder / "status.json").read_text())["state"] == "done"


@pytest.mark.parametrize(("compiled", "code"), [("true", 1), ("false", 0)])
def test_a_compiled_run_is_looked_at_before_its_first_update(
    command: Command, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiled: str, code: int
) -> None:
    def wrong(*given: object) -> None:
        raise RunFailed("wrong code")

    monkeypatch.setattr(updates, "refuse_miscompiled", wrong)
    monkeypatch.setattr(nn.Module, "compile", lambda model: None)
    done = command("train", *TINY, "data=text", f"data.path='{text}'", f"runtime.compile={compiled}")
    assert done.code == code
    (folder,) = (tmp_path / "runs").iterdir()
    status = json.loads((folder / "status.json").read_text())
    assert (status["state"], status["step"]) == (("failed", 0) if code else ("done", 4))
    assert ("wrong code" in done.err) is bool(code)
