"""What the README says can be typed, can be typed."""

import re
import shlex
from pathlib import Path

import pytest

from tests.commands.conftest import ROOT, TINY, Command

README = (ROOT / "README.md").read_text()
LINES = [
    line.partition("  #")[0].strip()
    for block in re.findall(r"```bash\n(.*?)```", README, re.DOTALL)
    for line in block.splitlines()
]


@pytest.fixture
def files(tmp_path: Path) -> None:
    """The files that the commands name."""
    (tmp_path / "my.txt").write_text("a line of mine, and another one of yours\n" * 200)
    (tmp_path / "pairs.tsv").write_text("".join(f"{i}\tnumber {i}\n" for i in range(200)))


@pytest.mark.parametrize("line", LINES)
@pytest.mark.usefixtures("files")
def test_the_commands_of_the_readme_run(
    command: Command, line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = shlex.split(line)
    assert words[0] == "python"
    if words[1] == "-m":
        from zoo.__main__ import main

        monkeypatch.setattr("sys.argv", words[2:])
        main()
        assert capsys.readouterr().out
    else:
        given = {word.partition("=")[0] for word in words}
        small = [one for one in TINY if one.partition("=")[0] not in given]
        done = command(words[1].removesuffix(".py"), *words[2:], *small)
        assert done.code == 0, done.err


def test_the_python_of_the_readme_runs() -> None:
    first = re.findall(r"```python\n(.*?)```", README, re.DOTALL)[0]
    exec(compile(first, "README.md", "exec"), {})


def test_the_error_that_the_readme_shows_is_the_error(command: Command) -> None:
    shown = re.search(r"\$ python train.py (\S+)\n(error: .*)\n", README)
    assert shown
    assert command("train", shown.group(1)).err.strip() == shown.group(2)
