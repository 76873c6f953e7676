"""A part of the user's own, from a folder outside the checkout."""

import sys
from pathlib import Path

import pytest

import zoo
from tests.commands.conftest import TINY, Command
from zoo.errors import UserError

PART = '''
import torch
from jaxtyping import Float
from torch import Tensor, nn
from zoo.norm import Norm, norms


@norms.register("my_scale")
class MyScale(Norm):
    """y = g x.

    paper: mine, 2026
    differs: nothing.
    """

    def __init__(self, width: int, *, start: float = 1.0):
        super().__init__(width)
        self.gain = nn.Parameter(torch.full((width,), start))

    def forward(self, x: Float[Tensor, "*shape width"]) -> Float[Tensor, "*shape width"]:
        return self.gain * x
'''


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The overrides that bring the part in."""
    code, conf = tmp_path / "code", tmp_path / "conf" / "model" / "norm"
    code.mkdir()
    conf.mkdir(parents=True)
    (code / "my_scale_part.py").write_text(PART)
    (conf / "my_scale.yaml").write_text("# my own\nname: my_scale\nstart: 0.5\n")
    monkeypatch.syspath_prepend(str(code))
    return ["plugins=[my_scale_part]", f"hydra.searchpath=[file://{tmp_path}/conf]"]


def test_a_plugin_trains_and_is_loaded_only_when_it_is_named(
    command: Command, text: Path, tmp_path: Path, plugin: list[str]
) -> None:
    done = command(
        "train", *plugin, "model/norm=my_scale", "model.norm.start=0.25", "data=text", f"data.path='{text}'", *TINY
    )
    assert done.code == 0, done.err
    (folder,) = (tmp_path / "runs").iterdir()
    gains = [
        p for name, p in zoo.load(folder, plugins=["my_scale_part"]).model.named_parameters() if name.endswith("gain")
    ]
    assert gains

    sys.modules.pop("my_scale_part")
    from zoo.norm import norms

    norms._classes.pop("my_scale")
    with pytest.raises(UserError, match=r"my_scale.*plugins"):
        zoo.load(folder)


def test_a_plugin_is_listed(
    command: Command, plugin: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from zoo.__main__ import main

    monkeypatch.setattr(sys, "argv", ["zoo", "list", "norm", *plugin])
    main()
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "my_scale " in line]
    assert "mine, 2026" in line
