"""What the README says can be typed, can be typed."""

import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands.conftest import ROOT, TINY, Command
from zoo.norm import norms

README = (ROOT / "README.md").read_text()
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
LINES = [
    line.partition("  #")[0].strip()
    for block in re.findall(r"```bash\n(.*?)```", README, re.DOTALL)
    for line in block.splitlines()
]


@pytest.fixture
def files(tmp_path: Path, pairs: Path) -> Path:
    """The files that the commands name."""
    (tmp_path / "my.txt").write_text("a line of mine, and another one of yours\n" * 200)
    (tmp_path / "other.txt").write_text("a line of another, and one more\n" * 200)
    return tmp_path


@pytest.fixture
def a_run(trained: Callable[..., Path], files: Path) -> str:
    """What stands for runs/<run>."""
    return f"runs/{trained('data=text', 'data.path=my.txt').name}"


@pytest.fixture
def a_translator(trained: Callable[..., Path], files: Path) -> str:
    """What stands for runs/<run> where a run translates."""
    return f"runs/{trained('model=transformer_2017', 'data=pairs', 'data.path=pairs.tsv').name}"


TWO = ["study.variants=[{name: a, overrides: []}, {name: b, overrides: ['model/norm=none']}]", "study.published=[]"]
"""A study of two variants in place of all that it has."""

FEW = "data.tokens=[20000,1000,1000]"
"""Of a corpus that is made."""

QUICK = ["latency.new_tokens=4", "latency.repetitions=1"]
"""Of what is measured, where something is."""

HERE = "hydra/launcher=basic"
"""Jobs in this process: the code under test is not that of other processes here."""


@pytest.fixture
def a_study(command: Command, files: Path, corpora: str) -> None:
    """What stands for runs/studies/ladder."""
    small = [*TINY, FEW, "seed=0", HERE, corpora]
    assert command("train", "study=ladder", *TWO, *small).code == 0


@pytest.mark.parametrize("line", LINES)
def test_the_commands_of_the_readme_run(
    command: Command,
    line: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
    files: Path,
    corpora: str,
) -> None:
    if "runs/<run>" in line:
        which = "a_translator" if "translation.pairs" in line else "a_run"
        line = line.replace("runs/<run>", request.getfixturevalue(which))
    if "runs/studies/<study>" in line:
        request.getfixturevalue("a_run")
        line = line.replace("runs/studies/<study>", "runs")
    if "runs/studies/ladder" in line:
        request.getfixturevalue("a_study")
    words = shlex.split(line)
    assert words[0] == "python"
    if words[1] == "-m":
        from zoo.__main__ import main

        monkeypatch.setattr("sys.argv", [*words[2:], *([FEW] if "data=toy" in words else [])])
        main()
        assert capsys.readouterr().out
    else:
        given = {word.partition("=")[0] for word in words}
        small = [one for one in TINY if one.partition("=")[0] not in given]
        of_study = words[1] == "train.py" and "study" in given
        if given & {"run", "resume"} or (words[1] == "evaluate.py" and "study" in given):
            small = []
        if words[1] == "train.py" and ("data=toy" in words or not given & {"data", "resume"}):
            small = [*small, FEW, corpora]
        if of_study:
            small += [*TWO, *([] if "seed" in given else ["seed=0"])]
        if of_study or "-m" in words:
            small += [HERE]
        if "latency.prompts" in given:
            small += QUICK
        done = command(words[1].removesuffix(".py"), *words[2:], *small)
        assert done.code == 0, done.err


def test_no_block_of_commands_is_left_out() -> None:
    unlabelled = re.findall(r"```\n(.*?)```", README, re.DOTALL)
    assert not [block for block in unlabelled if "\npython " in f"\n{block}"]


def test_the_python_of_the_readme_runs(a_run: str, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(blocks) == 2
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block.replace("runs/<run>", a_run), "README.md", "exec"), names)
    assert names["run"].step == 4


def test_the_error_that_the_readme_shows_is_the_error(command: Command) -> None:
    shown = re.search(r"\$ python train.py (\S+)\n(error: .*)\n", README)
    assert shown
    assert command("train", shown.group(1)).err.strip() == shown.group(2)


def test_the_walk_through_of_contributing_works_from_any_folder(command: Command, files: Path) -> None:
    code, option = (re.findall(rf"```{kind}\n(.*?)```", CONTRIBUTING, re.DOTALL)[0] for kind in ("python", "yaml"))
    (line,) = re.findall(r"^python train.py ('plugins=.*)$", CONTRIBUTING, re.MULTILINE)
    conf = files / "my_conf" / "model" / "norm"
    conf.mkdir(parents=True)
    (conf / "clip.yaml").write_text(option)
    (files / "my_norm.py").write_text(code)
    words = shlex.split(line.replace("/path/to", str(files)))
    try:
        done = command("train", *words, "data=text", "data.path=my.txt", *TINY)
        assert done.code == 0, done.err
        (folder,) = (files / "runs").iterdir()
        assert "norm-clip" in folder.name
    finally:
        norms._classes.pop("clip", None)
        sys.modules.pop("my_norm", None)
