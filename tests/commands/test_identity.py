"""What makes two runs the same run."""

import json
import shutil
from pathlib import Path

import pytest

from tests.commands.conftest import TINY, Command
from zoo.compose import compose
from zoo.config import ASIDE, parse, plain
from zoo.errors import UserError
from zoo.jobs.identity import find_folder, run_name, science_of, slug, with_resolved_paths

MORE = {"seed": 1, "model": {"d_model": 64, "norm": {"name": "rmsnorm"}}}


def science(*overrides: str, **changes: object) -> dict:
    """The science of a command line; `changes` are made to the composed model."""
    node = plain(compose(overrides))
    node = {key: value for key, value in node.items() if key not in ASIDE}
    node["model"] |= changes
    return science_of(parse(node), "fingerprint")


def test_a_name_is_a_safe_slug_and_a_hash_of_the_science() -> None:
    name = run_name(["llama", "model/norm=rms,norm", "a b%c|d'$", "x" * 80], MORE)
    assert name.startswith("llama-model-norm-rms-norm-a-b-c-d-x")
    slugged, _, digits = name.rpartition("-")
    assert len(slugged) <= 48
    assert len(digits) == 16
    assert run_name(["..", "/"], MORE) == f"run-{digits}"


def test_the_hash_depends_on_every_value_and_on_no_order() -> None:
    reordered = {"model": {"norm": {"name": "rmsnorm"}, "d_model": 64}, "seed": 1}
    changed = {"model": {"norm": {"name": "rmsnorm"}, "d_model": 65}, "seed": 1}
    assert run_name(["a"], reordered) == run_name(["a"], MORE)
    assert run_name(["a"], changed) != run_name(["a"], MORE)


@pytest.mark.parametrize(
    "override",
    [
        "model.dropout=0",
        "schedule.floor=0.10",
        "budget.evaluate_every=7",
        "budget.evaluate_batches=3",
        "record.log_every=3",
        "runtime=reference",
        "runtime.threads=1",
        "out=elsewhere",
        "cache=elsewhere",
    ],
)
def test_how_a_number_is_written_and_what_only_runs_or_looks_is_no_science(override: str) -> None:
    assert science(override) == science()


@pytest.mark.parametrize("override", ["model.dropout=0.1", "seed=1", "budget.context=64", "optimizer.eps=1e-7"])
def test_what_changes_the_run_is_science(override: str) -> None:
    assert science(override) != science()


def test_a_file_that_leaves_a_default_out_is_the_same_science() -> None:
    full, sparse = science("model/norm=rmsnorm"), science("model/norm=rmsnorm", norm={"name": "rmsnorm"})
    assert "eps" in full["model"]["norm"]
    assert sparse == full


def test_science_is_plain_json() -> None:
    found = science("model/mixer=local_global", "model=transformer_2017", "model/mixer@model.cross=mha")
    assert json.loads(json.dumps(found)) == found


def test_only_choices_and_values_of_science_are_in_a_name() -> None:
    overrides = [
        "model.d_model=64",
        "data.path=x",
        "runtime.threads=1",
        "out=o",
        "model/norm=none",
        "record.log_every=1",
    ]
    assert slug({"model": "gpt2", "data": "text"}, overrides) == ["gpt2", "text", "norm-none", "d_model-64"]


def test_a_path_is_resolved_by_its_key_and_nothing_else_is_touched() -> None:
    data = {"name": "text", "path": "text", "target_path": "text", "encoding": "text"}
    entry = {"given": "text", "resolved": "/abs/text"}
    assert with_resolved_paths(data, {"paths": [entry]}) == data | {"path": "/abs/text", "target_path": "/abs/text"}
    by_key = {"paths": [entry | {"key": "data.path"}]}
    assert with_resolved_paths(data, by_key) == data | {"path": "/abs/text"}


def record(folder: Path, **values: object) -> Path:
    """A folder with a record."""
    folder.mkdir()
    whole = {"choices": {}, "overrides": [], "machinery": {}, **values}
    (folder / "record.json").write_text(json.dumps(whole))
    return folder


def test_a_folder_is_found_by_its_record_whatever_it_is_called(tmp_path: Path) -> None:
    digits = run_name([], MORE).rpartition("-")[2]
    record(tmp_path / f"a-{digits}", science={"seed": 2})
    assert find_folder(tmp_path, ["x"], MORE) == tmp_path / f"x-{digits}"
    one = record(tmp_path / f"b-{digits}", science=MORE)
    assert find_folder(tmp_path, ["x"], MORE) == one
    with pytest.raises(UserError, match="another run under the same name"):
        find_folder(_only(tmp_path, f"a-{digits}"), ["a"], MORE)
    other = record(tmp_path / f"c-{digits}", science=MORE)
    with pytest.raises(UserError) as caught:
        find_folder(tmp_path, ["x"], MORE)
    assert str(one) in str(caught.value)
    assert str(other) in str(caught.value)


def _only(root: Path, name: str) -> Path:
    """A root that has a copy of that folder and no other."""
    shutil.copytree(root / name, root / "only" / name)
    return root / "only"


def test_a_finished_run_of_other_machinery_is_found_and_says_so(command: Command, text: Path) -> None:
    arguments = ("train", "data=text", f"data.path='{text}'", *TINY)
    assert command(*arguments, "runtime=reference").code == 0
    done = command(*arguments, "runtime.threads=2")
    assert "already (it was computed with attention=plain instead of fused, threads=1 instead of 2 now)" in done.out


def test_a_folder_called_as_its_source_is_no_trap(command: Command, text: Path, tmp_path: Path) -> None:
    (tmp_path / "text").mkdir()
    text.rename(tmp_path / "text" / "one.txt")
    assert command("train", "data=text", "data.path=text", *TINY).code == 0
    (folder,) = (tmp_path / "runs").iterdir()
    (folder / "status.json").write_text('{"state": "running"}')
    done = command("train", f"resume='{folder}'", "runtime.threads=1", folder=tmp_path / "text")
    assert done.code == 0, done.err
