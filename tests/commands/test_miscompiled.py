"""A run whose compiled code is wrong ends before its first update."""

import json
from pathlib import Path

import pytest
from torch import nn

from tests.commands.conftest import TINY, Command
from zoo.errors import RunFailed
from zoo.jobs import updates


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
