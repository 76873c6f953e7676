"""A command is composed as `hydra.main` does it, once."""

import logging
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hydra
import pytest
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import ConfigAttributeError

from tests.commands.conftest import TINY, Command
from zoo import cli
from zoo.command.application import application
from zoo.paths import CONF
from zoo.training.files import write_whole


@pytest.mark.parametrize(
    "words",
    [
        ("--run",),
        ("model=gpt2", "model.n_layers=3", "+more=1"),
        ("hydra.searchpath=[{extra}]", "model/norm=mine"),
        ("--config-dir={extra}", "model/norm=mine"),
        ("--config-name=evaluate", "run=here"),
        ("hydra.job.name=mine", "hydra.run.dir=there"),
    ],
    ids=" ".join,
)
def test_a_command_gets_what_hydra_would_give_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    extra = tmp_path / "extra"
    (extra / "model" / "norm").mkdir(parents=True)
    (extra / "model" / "norm" / "mine.yaml").write_text("name: mine\n")
    given: list[Any] = []

    def task(config: DictConfig) -> None:
        own = HydraConfig.get()
        keys = (own.mode, own.runtime, own.overrides.task, own.run, own.job.override_dirname)
        given.append((config, *keys, Path.cwd()))

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["train.py", *(word.format(extra=extra) for word in words)])
    application("train")(task)()
    hydra.main(version_base="1.3", config_path=str(CONF), config_name="train")(task)()
    ours, theirs = given
    assert ours == theirs
    assert OmegaConf.is_struct(ours[0])


@pytest.fixture
def root() -> Iterator[logging.Logger]:
    """The root logger, by which `--info` answers; it and Hydra's own, which a sweep quiets, as they were afterwards."""
    loggers = (logging.root, logging.getLogger("hydra"))
    kept, levels = logging.root.handlers, [one.level for one in loggers]
    loggers[1].setLevel(logging.NOTSET)
    yield logging.root
    logging.root.handlers = kept
    for one, level in zip(loggers, levels, strict=True):
        one.setLevel(level)


@pytest.mark.parametrize(
    "words",
    [
        ("--cfg", "job", "model=gpt2", "hydra.searchpath=[{extra}]", "model/norm=mine"),
        ("--cfg", "all", "--config-dir={extra}", "--package", "model.norm", "--resolve"),
        ("--info", "defaults", "--config-name=evaluate"),
    ],
    ids=" ".join,
)
def test_a_look_shows_what_hydra_would_show(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    root: logging.Logger,
    words: tuple[str, ...],
) -> None:
    (tmp_path / "model" / "norm").mkdir(parents=True)
    (tmp_path / "model" / "norm" / "mine.yaml").write_text("name: mine\n")
    monkeypatch.setattr(sys, "argv", ["train.py", *(word.format(extra=tmp_path) for word in words)])
    shown = []
    for main in (application("train"), hydra.main(version_base="1.3", config_path=str(CONF), config_name="train")):
        root.handlers = []
        main(lambda _: None)()
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1] != ""


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--cfg", "job", "model/norm=[layernorm,rmsnorm]"), "model/norm takes one option"),
        (("--info", "defaults", "model.norm.name=layernorm"), "choose it with model/norm=layernorm"),
        (("--info", "searchpath", "model=none"), "no model 'none'"),
        (("--run", "-m", "dry_run=true"), "--run and -m ask for two different things"),
        (("--cfg", "job", "-m"), "-m and --cfg ask for two different things"),
        (("--info", "--shell-completion"), "--info and --shell-completion ask"),
        (("--resolve",), "--resolve does nothing without --cfg"),
        (("--package", "model"), "--package does nothing without --cfg"),
        (("--cfg", "job", "--package", "none"), "package 'none' not found"),
        (("--experimental-rerun", "none.pickle"), "no file none.pickle"),
        (("--shell-completion",), "one of bash, fish, zsh"),
        (("--shell-completion", "install=none"), "one of bash, fish, zsh"),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, tuple) else "",
)
def test_a_look_refuses_what_a_run_refuses_and_flags_that_contradict(
    command: Command, words: tuple[str, ...], says: str
) -> None:
    done = command("train", *words)
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert done.err.count("\n") == 1


OF_ONE = ("study.variants=[{name: a, overrides: []}]", "study.published=[]")
"""What makes a study one of a single variant."""


@pytest.fixture
def composed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is composed, one for each time."""
    found: list[str] = []
    once: Callable[..., DictConfig] = ConfigLoaderImpl._compose_config_from_defaults_list

    def count(self: ConfigLoaderImpl, *arguments: Any, **keys: Any) -> DictConfig:
        found.append(type(self).__name__)
        return once(self, *arguments, **keys)

    monkeypatch.setattr(ConfigLoaderImpl, "_compose_config_from_defaults_list", count)
    return found


@pytest.mark.parametrize(
    ("words", "times"),
    [
        ((), 1),
        (("-m", "seed=0,1", "dry_run=true"), 3),  # the sweep, its first job, which may be refused, and its costs
        (("study=norm", *OF_ONE, "dry_run=true"), 4),  # once more, since nothing but the study says that it is one
    ],
    ids=["run", "sweep", "study"],
)
def test_a_command_is_composed_once(command: Command, composed: list[str], words: tuple[str, ...], times: int) -> None:
    done = command("train", *words, *TINY)
    assert done.code == 0, done.err
    assert composed == ["Loader"] * times


@pytest.mark.parametrize(
    ("words", "times"),
    [
        (("study=ffn", "dry_run=maybe"), 2),
        (("study=ffn", "study.metric='test loss at 64'"), 3),  # and its first job, which will not have it
    ],
    ids=["dry_run", "metric"],
)
def test_a_study_is_refused_before_all_its_jobs_are_composed(
    command: Command, composed: list[str], words: tuple[str, ...], times: int
) -> None:
    assert command("train", *words, *TINY).code == 2
    assert composed == ["Loader"] * times


def test_what_fails_because_of_a_ctrl_c_is_an_interruption(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def compose() -> None:
        try:
            try:
                raise KeyboardInterrupt
            finally:
                raise AttributeError("half a config")
        except AttributeError:
            raise ConfigAttributeError("half a config") from None  # as OmegaConf raises it

    monkeypatch.setattr(sys, "argv", ["train.py"])
    with pytest.raises(SystemExit) as left:
        cli.run(compose)
    assert left.value.code == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_what_cannot_be_written_on_a_ctrl_c_is_told_beside_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def save() -> None:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            write_whole(tmp_path / "none" / "step_3", b"weights")

    monkeypatch.setattr(sys, "argv", ["train.py"])
    with pytest.raises(SystemExit) as left:
        cli.run(save)
    assert left.value.code == 130
    assert capsys.readouterr().err == f"interrupted; cannot write {tmp_path}/none/step_3: No such file or directory\n"


def test_closed_outputs_are_written_to_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["train.py"])
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    cli.run(lambda: sys.stdout.write("told") + sys.stderr.write("told"))


def test_a_flag_may_stand_between_overrides(command: Command) -> None:
    done = command("train", "seed=3", "--cfg", "job", "budget.steps=7")
    assert done.code == 0, done.err
    assert "seed: 3\n" in done.out
    assert "steps: 7\n" in done.out
