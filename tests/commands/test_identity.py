"""What makes two runs the same run."""

import json
import shutil
from collections.abc import Iterator
from copy import deepcopy
from functools import cache, reduce
from operator import getitem
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
import torch

from tests.commands.conftest import TINY, Command
from tests.helpers import composed, files
from zoo.assembly import assemble, common_of
from zoo.command.compose import compose
from zoo.config import ASIDE, parse, plain
from zoo.errors import UserError
from zoo.experiment import Runtime
from zoo.families import AXES
from zoo.jobs import prepared
from zoo.jobs.identity import find_folder, run_name, slug, with_resolved_paths
from zoo.jobs.science import science_as_written, science_of
from zoo.model import Model
from zoo.part import Part
from zoo.registry import FAMILIES
from zoo.schema import defaults
from zoo.training.run import read_record

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


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("schedule.warmup=0", "schedule.warmup=0.0"),
        ("schedule.warmup=0", "schedule.warmup=-0.0"),
        ("schedule.warmup=2", "schedule.warmup=2.0"),
        ("model.dropout=0.0", "model.dropout=-0.0"),
        ("optimizer.weight_decay=0", "optimizer.weight_decay=-0.0"),
        ("optimizer.betas=[0,0.9]", "optimizer.betas=[-0.0,0.9]"),
        ("optimizer.clip=1", "optimizer.clip=1.0"),
    ],
)
def test_one_number_is_one_run_however_it_is_written(one: str, other: str) -> None:
    said = {run_name([], science(one, "optimizer=adamw")) for one in (one, other)}
    assert len(said) == 1
    assert run_name([], science("schedule.warmup=0.5")) not in said


ASKED = ("model", "objective", "tokenizer", "optimizer", "schedule", "budget", "seed")
"""What a run is asked to be; its data is known by a fingerprint."""
LOOKS = ("evaluate_every", "evaluate_batches")
"""Keys of the budget that only look."""
GROUPS = [*(f"model/{axis}" for axis in AXES if axis != "topology"), "tokenizer", "optimizer", "schedule"]
"""What can be chosen without regard to the rest."""
PAIRED = (
    ["model=bert"],
    ["model=transformer_2017", "model/mixer@model.cross=mha"],
    ["model/topology=encoder_only", "objective=tagging"],
)
"""Topologies with their objectives."""


def words(annotation: object) -> set[str]:
    """The words that a type allows."""
    inner = set().union(*map(words, get_args(annotation)))
    return inner | {annotation} if isinstance(annotation, str) else inner


@cache
def every_word() -> list[str]:
    """Every word that some key allows."""
    classes = [family.get(name).__init__ for family in FAMILIES.values() for name in family.names()]
    return sorted(set().union(*(words(hint) for one in (*classes, Runtime) for hint in get_type_hints(one).values())))


def leaves(node: object, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Where the values of a config stand."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield from leaves(value, (*path, key))
    else:
        yield path


def others(path: tuple[str, ...], value: object) -> Iterator[object]:
    """Values that might stand there as well."""
    match value:
        case bool():
            yield not value
        case int() | float():
            yield from (one for one in (value + 1, value * 2, value / 2, 0.5) if one != value)
        case str() if path[-1] == "name":
            yield from (one for one in FAMILIES.get(path[-2], FAMILIES["mixer"]).names() if one != value)
        case str():
            yield from (*(word for word in every_word() if word != value), True)
        case list():
            yield from ([*value[:-1], one] for one in others(path, value[-1]))
            yield [*value, value[0]]
        case None:
            yield from (1, 0.5, True, False, [1], *every_word())


def changed(node: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any] | None:
    """The science with another value there; None when no other is accepted. Another part comes with its defaults; of
    what may stand for null, which may say the same, the first is taken that says something else."""
    value, found = reduce(getitem, path, node), None
    for other in others(path, value):
        copy = deepcopy(node)
        place = reduce(getitem, path[:-1], copy)
        if path[-1] == "name":
            place.clear()
        place[path[-1]] = other
        try:
            found = science_of(parse(copy), "fingerprint")
        except UserError:
            continue
        if value is not None or found != science_of(parse(node), "fingerprint"):
            break
    return found


def test_all_that_is_asked_of_a_run_is_its_science_and_nothing_else_is() -> None:
    options = {group: files(group) for group in GROUPS}
    choices = [
        [f"{group}={names[i % len(names)]}" for group, names in options.items()]
        for i in range(max(map(len, options.values())))
    ]
    seen = set()
    for overrides in (*choices, *PAIRED):
        node = composed(*overrides)
        before = science_of(parse(node), "fingerprint")
        for path in leaves({key: value for key, value in node.items() if key not in ("data", "plugins")}):
            where = (*path, reduce(getitem, path[:-1], node).get("name"))
            if where in seen:
                continue
            seen.add(where)
            found = changed(node, path)
            if found is None and path[-1] == "name":  # a topology that no other can stand for under this objective
                continue
            assert found is not None, f"{path} takes no other value"
            assert (found != before) == (path[0] in ASKED and path[-1] not in LOOKS), path
    assert len(seen) > 150


def test_a_file_that_leaves_a_default_out_is_the_same_science() -> None:
    full, sparse = science("model/norm=rmsnorm"), science("model/norm=rmsnorm", norm={"name": "rmsnorm"})
    assert "eps" in full["model"]["norm"]
    assert sparse == full


def test_an_option_whose_arithmetic_changed_is_another_run(monkeypatch: pytest.MonkeyPatch) -> None:
    assert science("optimizer=muon")["optimizer"]["(version)"] == 2
    assert [science(f"model/ffn={name}")["model"]["ffn"]["(version)"] for name in ("moe", "moe_sigmoid")] == [2, 2]
    before = science("model/norm=rmsnorm")
    assert "(version)" not in before["model"]["norm"]
    monkeypatch.setattr(FAMILIES["norm"].get("rmsnorm"), "version", 2, raising=False)
    assert science("model/norm=rmsnorm") != before


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
    assert find_folder(tmp_path, ["x"], MORE, MORE) == tmp_path / f"x-{digits}"
    one = record(tmp_path / f"b-{digits}", science=MORE)
    assert find_folder(tmp_path, ["x"], MORE, MORE) == one
    with pytest.raises(UserError, match="another run under the same name"):
        find_folder(_only(tmp_path, f"a-{digits}"), ["a"], MORE, MORE)
    other = record(tmp_path / f"c-{digits}", science=MORE)
    with pytest.raises(UserError) as caught:
        find_folder(tmp_path, ["x"], MORE, MORE)
    assert str(one) in str(caught.value)
    assert str(other) in str(caught.value)


def test_a_folder_that_is_known_as_written_is_found_unless_there_is_a_newer_one(tmp_path: Path) -> None:
    written = {**MORE, "model": {**MORE["model"], "mixer": {"head_dim": 16}}}  # type: ignore[dict-item]
    digits = run_name([], written).rpartition("-")[2]
    old = record(tmp_path / f"old-{digits}", science=written)
    assert find_folder(tmp_path, ["x"], MORE, written) == old
    new = record(tmp_path / run_name(["new"], MORE), science=MORE)
    assert find_folder(tmp_path, ["x"], MORE, written) == new


UNSAID = [
    (family, name, key)
    for family in AXES
    for name in FAMILIES[family].names()
    if issubclass(FAMILIES[family].get(name), Part)
    for key, value in defaults(FAMILIES[family].get(name)).items()
    if value is None
]
"""Keys of parts that may be left out."""
NO_LIMIT = ("window",)
"""Those where null says nothing that could be said."""
TOPOLOGY = {"encoder_decoder": "model=transformer_2017", "t5": "model/topology=decoder_only"}


def structure(model: Model) -> list[object]:
    """Every module of a model with its settings, and the shape of every parameter."""
    plain = (bool, int, float, str, tuple, type(None))
    settings = [
        (name, type(one), {key: value for key, value in vars(one).items() if isinstance(value, plain)})
        for name, one in model.named_modules()
    ]
    return [*settings, *((name, one.shape) for name, one in model.named_parameters())]


@pytest.mark.parametrize(("family", "name", "key"), [one for one in UNSAID if one[2] not in NO_LIMIT])
def test_a_value_that_says_what_leaving_it_out_says_is_the_same_run(family: str, name: str, key: str) -> None:
    node = plain(compose([TOPOLOGY.get(name, "model=llama"), "tokenizer=bytes"]))
    node = {key: value for key, value in node.items() if key not in ASIDE}
    node["model"][family] = {"name": name, key: None}
    experiment = parse(node)
    common = common_of(experiment.model, layer=0, depth=experiment.model.n_layers, causal=True)
    cls = FAMILIES[family].get(name)
    assert issubclass(cls, Part)
    node["model"][family][key] = cls.unset(common, defaults(cls))[key]
    said = parse(node)
    with torch.device("meta"):
        assert structure(assemble(said.model, 9)) == structure(assemble(experiment.model, 9))
    assert science_of(said, "") == science_of(experiment, "") == science_as_written(experiment, "")
    assert science_as_written(said, "") != science_of(said, "")
    other = not node["model"][family][key] if isinstance(node["model"][family][key], bool) else 1
    node["model"][family][key] = 0.5 if key == "dropout" else other
    assert science_of(parse(node), "") == science_as_written(parse(node), "") != science_of(experiment, "")


@pytest.mark.parametrize(
    ("base", "said"),
    [
        (("model/ffn=moe",), ("model/ffn=moe", "model.ffn.expert.bias=false")),
        (("model=transformer_2017",), ("model=transformer_2017", "model/mixer@model.cross=mha")),
        (
            ("model=transformer_2017", "model.mixer.window=8"),
            ("model=transformer_2017", "model.mixer.window=8", "model/mixer@model.cross=mha"),
        ),
        (("model/mixer=mha", "model.n_heads=4"), ("model/mixer=mha", "model.n_heads=4", "model.mixer.n_kv_heads=4")),
    ],
)
def test_an_expert_and_a_cross_mixer_that_say_what_there_is_without_are_the_same_run(
    base: tuple[str, ...], said: tuple[str, ...]
) -> None:
    assert science(*base) == science(*said)


def test_where_two_stacks_see_in_two_ways_no_value_says_what_leaving_it_out_says() -> None:
    both = ["model=transformer_2017", "model/position=t5"]
    found = {run_name([], science(*both, f"model.position.both_sides={one}")) for one in ("true", "false", "null")}
    assert len(found) == 3


@pytest.mark.parametrize("old", [False, True])
def test_the_command_finds_and_resumes_a_run_however_its_widths_were_said(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: bool
) -> None:
    said = ("model.mixer.head_dim=4", "model.ffn.bias=false")
    with monkeypatch.context() as patch:
        if old:
            patch.setattr(prepared, "science_of", science_as_written)
        assert command("train", *TINY, *said).code == 0
    (folder,) = tmp_path.glob("runs/*")
    if old:  # killed before its first checkpoint
        shutil.rmtree(folder / "checkpoints")
        (folder / "status.json").write_text('{"state": "running"}')
        assert f"done: {folder.relative_to(tmp_path)}" in command("train", *TINY, *said).out
    assert folder.name == run_name([folder.name.rpartition("-")[0]], read_record(folder)["science"])
    assert "nothing to do" in command("train", *TINY, *said).out
    assert "nothing to do" in command("train", f"resume={folder}").out
    assert old or "nothing to do" in command("train", *TINY).out
    assert list(tmp_path.glob("runs/*")) == [folder]


def _only(root: Path, name: str) -> Path:
    """A root that has a copy of that folder and no other."""
    shutil.copytree(root / name, root / "only" / name)
    return root / "only"


def test_a_finished_run_of_other_machinery_is_found_and_says_so(command: Command, text: Path) -> None:
    arguments = ("train", "data=text", f"data.path='{text}'", *TINY)
    assert command(*arguments, "runtime=reference").code == 0
    done = command(*arguments, "runtime.threads=2")
    assert (
        "already (it was computed with runtime.attention=plain instead of fused, runtime.threads=1 instead" in done.out
    )


def test_a_folder_called_as_its_source_is_no_trap(command: Command, text: Path, tmp_path: Path) -> None:
    (tmp_path / "text").mkdir()
    text.rename(tmp_path / "text" / "one.txt")
    assert command("train", "data=text", "data.path=text", *TINY).code == 0
    (folder,) = (tmp_path / "runs").iterdir()
    (folder / "status.json").write_text('{"state": "running"}')
    done = command("train", f"resume='{folder}'", "runtime.threads=1", folder=tmp_path / "text")
    assert done.code == 0, done.err
