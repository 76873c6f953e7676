"""`match=` on the command line."""

import json
from pathlib import Path

import yaml

from tests.commands.conftest import TINY, Command


def test_a_single_run_is_matched_before_it_gets_its_name(command: Command, text: Path, tmp_path: Path) -> None:
    done = command("train", "data=text", f"data.path='{text}'", *TINY, "model/ffn=relu", "match=params")
    assert done.code == 0, done.err
    (folder,) = (tmp_path / "runs").iterdir()
    record = json.loads((folder / "record.json").read_text())
    d_ff = yaml.safe_load((folder / "config.yaml").read_text())["model"]["ffn"]["d_ff"]
    assert record["match"]["solved"] == f"model.ffn.d_ff={d_ff}"
    assert record["science"]["model"]["ffn"]["d_ff"] == d_ff
    assert record["costs"]["parameters"] == record["match"]["got"]
    assert "match: params" in done.out
