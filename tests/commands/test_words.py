"""A word on the command line that says nothing is answered with the one that was meant."""

import shlex
import sys
from pathlib import Path

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import OmegaConf

from tests.commands.conftest import TINY, Command
from tests.commands.test_plugins import plugin
from zoo import cli
from zoo.__main__ import main
from zoo.command.help import help_text
from zoo.command.words import in_home
from zoo.literal import as_word, quote_texts, text_of

__all__ = ["plugin"]

TRAIN = {
    "the last component of a key": (("steps=100",), "did you mean budget.steps?"),
    "another": (("lr=1e-3",), "did you mean optimizer.lr?"),
    "the last component of a key, rather than a group like it": (("d_model=128",), "did you mean model.d_model?"),
    "a group like it": (("modle=gpt2",), "did you mean model?"),
    "the last component of a group": (("norm=layernorm",), "did you mean model/norm"),
    "a key like none": (("runtime.foo=1",), "no key 'runtime.foo'; `python train.py --cfg job` shows all keys"),
    "a key of evaluate.py": (("run=runs/x",), "no key 'run' here; it is one of `python evaluate.py`"),
    "a flag for a key": (("--steps", "100"), "no flag '--steps' (did you mean budget.steps?); a value is set by"),
    "a misspelt flag": (("--multrun", "seed=1"), "did you mean --multirun?"),
    "values without -m": (("model/norm=layernorm,rmsnorm",), "has several values; add -m to sweep over them"),
    "a comma in a path": (("out=runs/a,b",), """a path is quoted twice, as in 'out="runs/a,b"'"""),
    "what is no key": (("seed;x=3",), "cannot be read at seed;x=3: 'seed;x' is no key; a value is set by"),
    "a key of an entry of a pattern": (
        ("model/mixer=local_global", "model.mixer.local.windw=8"),
        "no key 'model.mixer.local.windw' (did you mean model.mixer.local.window?)",
    ),
    "the last component of one": (
        ("model/mixer=local_global", "window=8"),
        "global.window or model.mixer.local.window?",
    ),
    "a key of another option, in a sweep": (("-m", "model/norm=layernorm,rmsnorm", "budget.stps=8"), "budget.steps?"),
    "a key of null that is taken away": (("~resume",), "'~resume' takes nothing away: resume is null already"),
    "an option that is not chosen, taken away": (("~study=norm",), "'~study=norm' takes nothing away: that option is"),
    "no key, taken away": (("~sed",), "no key 'sed' (did you mean seed?)"),
    "a key of Hydra's, taken away": (("~hydra.verbose",), "error: hydra.verbose cannot be left out of a config; set"),
    "a key of another option, taken away": (("model/norm=none", "~model.norm.eps"), "no key 'model.norm.eps' in the"),
    "a value that a key has not, taken away": (("~seed=5",), "'~seed=5' takes nothing away: seed is 0; leave the"),
    "a number for what Hydra tells": (("hydra.verbose=3",), "loggers, as in [zoo,hydra]; got 3"),
    "numbers for it": (("hydra.verbose=[3]",), "loggers, as in [zoo,hydra]; got [3]"),
    "nothing for it": (("hydra.verbose=null", "-m"), "loggers, as in [zoo,hydra]; got None"),
    "a bracket that is not closed": (
        ("optimizer.betas=[0.9",),
        "cannot be read at optimizer.betas=[0.9: its [ is not closed\n",
    ),
    "a bracket that another closes": (("optimizer.betas=[0.9}",), "betas=[0.9}: its [ is closed by }\n"),
    "a bracket that closes nothing": (("optimizer.betas=0.9]",), "betas=0.9]: its ] closes nothing\n"),
    "a quote that is not closed": (("data.path='a",), "cannot be read at data.path='a: its ' is not closed; a text"),
    "a list with an empty entry": (("optimizer.betas=[0.9,]",), "betas=[0.9,]: its list has an empty entry"),
    "what Hydra does not read": (("out=lr=3",), """quote special characters twice, as in 'out="lr=3"'"""),
    "a range without -m": (("seed=range(3)",), "has several values; add -m to sweep over them"),
    "seeds of a study": (("study=ladder", "seeds=0,1", "dry_run=true"), "(did you mean seed?)"),
    "a variant of a study": (("study=ladder", "variant=RoPE"), "study=ladder runs all its variants"),
    "the beginning of a run": (("resume=runs/modern",), "is no run folder (did you mean runs/modern-1a?)"),
    "an option of another group": (("model=rope",), "no model 'rope' (did you mean model/position=rope?); choose"),
    "what is absent in another group": (("model/mixer=none",), "no model/mixer 'none'; choose from gqa"),
    "an option alone": (("llama",), "'llama' sets nothing (did you mean model=llama?); a value"),
    "a path alone": (("runs/modern-1a",), "'runs/modern-1a' sets nothing; a value is set by key=value"),
    "a folder of configs that is none": (("hydra.searchpath=[file://nope]",), "hydra.searchpath: no folder nope"),
}
EVALUATE = {
    "a group of training, taken away": (("run=x", "~study"), "'study' is that of the run"),
    "what generates, taken away": (("run=x", "~generate"), "generate cannot be left out of a config; leave the word ~"),
    "a run that is not there, taken away": (("~run",), "'~run' takes nothing away: run has no value; leave the word"),
    "a run that is there, taken away": (("run=x", "~run"), "run cannot be left out of a config; leave the word ~run"),
    "a part": (("run=R", "model/norm=layernorm"), "takes the model and how it was trained from the run"),
    "the optimizer": (("run=R", "optimizer=sgd"), "optimizer cannot be changed here"),
    "a size": (("run=R", "model.d_model=3"), "'model.d_model' is that of the run and cannot be changed here"),
    "a misspelt last component": (("run=R", "promt=hi"), "did you mean generate.prompt?); `python evaluate.py --cfg"),
    "the last component of a key": (("run=R", "prompt=hi"), "did you mean generate.prompt?"),
    "a misspelt key": (("run=R", "generate.temprature=1"), "did you mean generate.temperature?"),
    "a key that train.py has too": (("run=R", "seed=3"), "did you mean generate.seed?"),
    "a flag for a key": (("--seed=3",), "did you mean generate.seed?"),
    "nothing": ((), "no value for run; give run=runs/<run>, or study=runs/studies/<study>"),
    "the beginning of a run": (("run=runs/modern",), "no folder runs/modern (did you mean runs/modern-1a?)"),
    "the name of a study": (("study=ladder",), "no folder ladder (did you mean runs/studies/ladder?)"),
    "no study": (("study=",), "study= is empty; give the folder of a study"),
    "a path alone": (("runs/modern-1a",), "did you mean run=runs/modern-1a?"),
    "the path of a study alone": (("runs/studies/ladder",), "did you mean study=runs/studies/ladder?"),
}


@pytest.fixture(autouse=True)
def folders(tmp_path: Path) -> None:
    """A run and a study."""
    (tmp_path / "runs" / "modern-1a").mkdir(parents=True)
    study = tmp_path / "runs" / "studies" / "ladder"
    study.mkdir(parents=True)
    (study / "study.json").write_text("{}")


@pytest.mark.parametrize(
    ("script", "words", "said"),
    [("train", *case) for case in TRAIN.values()] + [("evaluate", *case) for case in EVALUATE.values()],
    ids=[f"train: {name}" for name in TRAIN] + [f"evaluate: {name}" for name in EVALUATE],
)
def test_what_was_meant_is_said_in_one_sentence(
    command: Command, script: str, words: tuple[str, ...], said: str
) -> None:
    done = command(script, *words)
    assert done.code == 2
    assert said in done.err
    assert done.err.startswith("error: ")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("command", "words", "said"),
    [
        ("train", ("seed=1", "-m", "seed=2"), "seed=1 and seed=2 set seed twice; leave one of them out"),
        ("train", ("model=gpt2", "seed=1", "model=llama"), "model=gpt2 and model=llama set model twice"),
        ("train", ("budget.steps=10", "budget.steps=20,30"), "set budget.steps twice"),
        ("evaluate", ("run=a", "run=b"), "run=a and run=b set run twice"),
        (None, ("export", "run=a", "to=here", "to=there"), "to=here and to=there set to twice"),
        ("train", ("seed=1", "++seed=2"), "seed=1 and ++seed=2 set seed twice"),
        ("train", ("++seed=1", "++seed=2"), "++seed=1 and ++seed=2 set seed twice"),
        ("train", ("plugins=[a,b]", "plugins=[b,c]"), "set plugins twice; write one list, plugins=[a,b,c]"),
        ("train", ("hydra/launcher=basic", "hydra/launcher=forked"), "set hydra/launcher twice; leave one of them out"),
        ("train", ("hydra.searchpath=[a]", "hydra.searchpath=[b]"), "write one list, hydra.searchpath=[a,b]"),
    ],
)
def test_two_values_of_one_key_are_refused(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str | None,
    words: tuple[str, ...],
    said: str,
) -> None:
    monkeypatch.setattr(sys, "argv", ["", *words])
    with pytest.raises(SystemExit, match="2"):
        cli.run(lambda: pytest.fail("it ran"), command)
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [
        ("seed=1", "seed=1"),
        ("-m", "seed=1,2"),
        ("++seed=1", "++seed=1"),
        ("--cfg=job", "--cfg=hydra"),
        ("model/norm=rmsnorm", "model/norm@model.norm=layernorm"),
    ],
    ids=" ".join,
)
def test_words_that_are_not_two_values_of_one_key_go_on(
    monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setattr(sys, "argv", ["", *words])
    cli.run(list, "train")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("list", "rope"), "error: no family 'rope' (did you mean model/position=rope?); choose from topology"),
        (("shw",), "error: no command 'shw' (did you mean show?); choose from list, show"),
        (("--foo",), "error: unrecognized arguments: --foo; `python -m zoo --help`"),
        (("show", "hydra.searchpath=[nope]"), "error: hydra.searchpath: no folder nope"),
    ],
)
def test_the_listing_refuses_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    monkeypatch.setattr(sys, "argv", ["zoo", *words])
    with pytest.raises(SystemExit) as end:
        main()
    err = capsys.readouterr().err
    assert end.value.code == 2
    assert err.startswith(said)
    assert err.count("\n") == 1


def test_a_plugin_without_its_option_file_is_told_what_is_missing(command: Command, plugin: list[str]) -> None:
    done = command("train", plugin[0], "model/norm=my_scale")
    assert done.code == 2
    assert "my_scale is registered by my_scale_part, but there is no model/norm/my_scale.yaml" in done.err
    other = command("train", plugin[0], "model/norm=rmsnrm")
    assert "did you mean rmsnorm?" in other.err


def test_the_tab_key_offers_no_file_that_only_others_build_on(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    for line, offered in (("model=", "model=gpt2"), ("study=", "study=ladder")):
        monkeypatch.setenv("COMP_LINE", f"train.py {line}")
        monkeypatch.setenv("COMP_POINT", str(len(f"train.py {line}")))
        done = command("train", "-sc", "query=bash")
        assert offered in done.out.split()
        assert "=_" not in done.out


def test_help_of_an_evaluation_lists_what_can_be_chosen_there() -> None:
    said = help_text("evaluate", [])
    for there in (
        "\ndata: ",
        "toy_translation",
        "\nruntime: auto, reference\n",
        "  temperature: null",
        "  prompts: null",
    ):
        assert there in said
    for elsewhere in ("adamw", "gpt2", "hydra:", "$"):
        assert elsewhere not in said.replace("--hydra-help", "")


def test_a_home_folder_that_is_not_quoted_is_found_in_every_path(
    command: Command, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "a home"
    home.mkdir()
    text.rename(home / "x.txt")
    monkeypatch.setenv("HOME", str(home))
    done = command("train", "data=text", "data.path=~/x.txt", "out=~/runs", "cache=~/cache", *TINY)
    assert done.code == 0, done.err
    (folder,) = (home / "runs").iterdir()
    assert (home / "cache").is_dir()
    done = command("evaluate", f"run=~/runs/{folder.name}", "json=~/scores.json", "cache=~/cache")
    assert done.code == 0, done.err
    assert (home / "scores.json").is_file()
    assert command("evaluate", "study=~/runs").code == 0
    assert (home / "runs" / "report.html").is_file()
    assert not (tmp_path / "~").exists()


def test_only_the_beginning_of_a_value_is_a_home_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/h")
    given = ["~model", "a=~", "a=~/b", "a=[~/b,~/c]", "a=~/b,~/c", "a=x~/b", "a='~/b'", "a=~nobody_at_all/b", "~/b"]
    found = [
        "~model",
        "a=/h",
        "a=/h/b",
        "a=[/h/b,/h/c]",
        "a=/h/b,/h/c",
        "a=x~/b",
        "a='~/b'",
        "a=~nobody_at_all/b",
        "~/b",
    ]
    assert in_home(given) == found


@pytest.mark.parametrize(
    "path", ["runs/a", "with space/a=b,c", "it's", 'a "b"', "a\\", 'a\\"', "${x}", "[a]", "#1 & more", "größe", "a;b"]
)
def test_a_command_that_is_printed_can_be_pasted(path: str) -> None:
    (word,) = shlex.split(as_word("run", path))
    override = OverridesParser.create().parse_override(*quote_texts([word]))
    assert override.key_or_group == "run"
    made = OmegaConf.create({"run": override.value()})
    assert made.run == path
    assert text_of(word) == path


def test_letters_beyond_ascii_need_no_quotes(command: Command, tmp_path: Path) -> None:
    (tmp_path / "Über größe.txt").write_text("the same line, again and again\n" * 100)
    done = command("train", "data=text", "data.path=Über größe.txt", *TINY)
    assert done.code == 0, done.err
