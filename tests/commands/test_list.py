"""What `python -m zoo` prints where there is no terminal: lines that a page shows, or JSON."""

import json
import sys

import pytest

from tests.commands.conftest import Command, Done
from zoo.__main__ import main
from zoo.catalogue import catalogue


@pytest.fixture
def zoo_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """`zoo_command("list", "norm")` runs `python -m zoo list norm`."""

    def call(*words: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["zoo", *words])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        said = capsys.readouterr()
        return Done(code, said.out, said.err)

    return call


@pytest.mark.parametrize("words", [("list",), (), ("list", "norm", "mixer")])
def test_the_list_as_json_has_every_option(zoo_command: Command, words: tuple[str, ...]) -> None:
    done = zoo_command(*words, "--json")
    assert done.code == 0, done.err
    rows = json.loads(done.out)
    wanted = [(one.family, one.option) for one in catalogue() if not words[1:] or one.family in words]
    assert [(one["family"], one["option"]) for one in rows] == wanted
    assert all(one.keys() == {"family", "option", "summary", "file", "paper"} for one in rows)
    (rmsnorm,) = (one for one in rows if one["option"] == "rmsnorm")
    assert "/norm/rmsnorm.py:" in rmsnorm["file"]
    assert rmsnorm["paper"] == "Zhang & Sennrich 2019, arXiv:1910.07467"


@pytest.mark.parametrize("name", ["show", "matrix", "sample", "export"])
def test_what_has_no_json_says_so(zoo_command: Command, name: str) -> None:
    done = zoo_command(name, "--json")
    assert done.code == 2
    assert done.err == f"error: {name} has no --json; list and floor have\n"


@pytest.mark.parametrize("words", [("list",), ("matrix",), ("show", "model=transformer_2017")])
def test_no_line_is_wider_than_a_page_and_nothing_is_cut(zoo_command: Command, words: tuple[str, ...]) -> None:
    done = zoo_command(*words)
    assert done.code == 0, done.err
    assert max(map(len, done.out.splitlines())) <= 120
    assert "…" not in done.out
