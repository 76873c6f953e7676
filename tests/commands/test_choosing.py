"""Where an option is chosen, all but the name of one is refused in a sentence that lists the names."""

from pathlib import Path

import pytest

from tests.commands.conftest import Command
from zoo.command.compose import compose
from zoo.command.groups import groups_of, options_of
from zoo.errors import UserError
from zoo.families import AXES

NO_NAMES = ("", "3", "-1.5e3", "true", "{}", "{name: a}", "[]", "[a, b]")


def refusal(command: str, *words: str) -> str:
    with pytest.raises(UserError) as refused:
        compose(words, command)
    return str(refused.value)


@pytest.mark.parametrize("command", ["train", "evaluate"])
@pytest.mark.parametrize("value", NO_NAMES)
def test_every_group_takes_the_name_of_an_option_and_nothing_else(command: str, value: str) -> None:
    for group in groups_of(command):
        if group.startswith("study") and value.startswith("["):
            assert f"{group} takes one option" in refusal(command, f"{group}={value}")
            continue
        said = refusal(command, f"{group}={value}")
        wanted = f"to run each: -m {group}=" if value[:1] == "[" else f"choose from {', '.join(options_of(group))}"
        assert wanted in said


@pytest.mark.parametrize("value", [*NO_NAMES, "null", "gelu"])
def test_nothing_is_set_where_a_part_stands(value: str) -> None:
    for axis in AXES:
        said = refusal("train", f"model.{axis}={value}")
        assert said.startswith(f"model.{axis}={value} chooses nothing; write model/{axis}=")
    assert refusal("train", "model.ffn=gelu").endswith("write model/ffn=gelu")
    assert refusal("train", "model.cross=mqa").endswith("write model/mixer@model.cross=mqa")


def test_an_entry_of_a_pattern_is_chosen_as_other_parts_are() -> None:
    pattern, entry = "model/mixer=local_global", "model/mixer@model.mixer.local"
    for value in ("", "3", "{}"):
        assert "choose from gqa, local_global, mha, mqa, sliding" in refusal("train", pattern, f"{entry}={value}")
    assert "choose from gqa" in refusal("train", f"+{entry}=3", pattern)


def test_what_is_chosen_elsewhere_is_listed_too(tmp_path: Path) -> None:
    (tmp_path / "model" / "norm").mkdir(parents=True)
    (tmp_path / "model" / "norm" / "mine.yaml").write_text("name: rmsnorm\n")
    said = refusal("train", f"hydra.searchpath=['{tmp_path}']", "model/norm=3")
    assert said == "no model/norm '3'; choose from layernorm, layernorm_bert, mine, none, rmsnorm"


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("record=3", "record must be a mapping, whose keys are set by themselves as in record.<key>=…; got 3"),
        ("record=[1]", "record=[1] does not fit: what stands at record is of another kind; `--cfg job` shows it"),
        ("record={log_evry: 3}", "no such key in record; its keys are set by themselves: record.log_every, "),
        ("plugins={}", "plugins={} does not fit"),
        ("hydra/launcher=", "no hydra/launcher ''; choose from basic, forked"),
        ("hydra/launcher=3", "a number or a truth value is no option of a group"),
        ("model/norm=null", "null is no option of a group"),
    ],
)
def test_other_values_of_the_wrong_kind_are_refused_in_one_sentence(command: Command, word: str, said: str) -> None:
    done = command("train", word)
    assert done.code == 2
    assert done.err.startswith(f"error: {said}")
    assert done.err.count("\n") == 1


def test_a_sweep_refuses_the_same_in_each_of_its_jobs(command: Command) -> None:
    for word in ("model=llama,{}", "model.norm=rmsnorm,none", "model/norm=rmsnorm,3"):
        done = command("train", "-m", word, "dry_run=true")
        assert done.code == 2
        assert "choose from" in done.err or "chooses nothing" in done.err
