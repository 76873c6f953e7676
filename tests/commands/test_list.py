"""What `python -m zoo` prints where there is no terminal: lines that a page shows, or JSON."""

import importlib
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.conftest import ROOT, Command, Done
from zoo.__main__ import main
from zoo.families import FAMILY_PACKAGES
from zoo.overview.catalogue import catalogue
from zoo.overview.matrix import tables
from zoo.paths import CONF
from zoo.registry import FAMILIES


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


@pytest.mark.parametrize("words", [("list",), ("show", "model=llama"), ("sample", "data=reverse")])
def test_a_terminal_without_a_character_shows_a_mark_in_its_place(
    monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    said = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(said, encoding="ascii"))
    monkeypatch.setattr(sys, "argv", ["zoo", *words])
    main()
    print("α — β", flush=True)
    assert said.getvalue().endswith(b"\n? ? ?\n")


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


@pytest.mark.parametrize("words", [("list",), ("floor", "data=reverse", "data.tokens=[0,500,0]")])
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_json_says_every_letter_in_any_encoding(
    monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], encoding: str
) -> None:
    said = {}
    for one in ("utf-8", encoding):
        out = io.BytesIO()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding=one))
            patch.setattr(sys, "argv", ["zoo", *words, "--json"])
            main()
            sys.stdout.flush()
            said[one] = json.loads(out.getvalue().decode(one))
    assert said[encoding] == said["utf-8"]


def test_json_in_a_pipe_that_takes_ascii_alone_is_whole() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "zoo", "list", "--json"]
    done = subprocess.run(command, capture_output=True, env=environment, cwd=ROOT, check=True)
    assert [one["summary"] for one in json.loads(done.stdout.decode("ascii"))] == [one.summary for one in catalogue()]


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


def test_names_stand_whole_on_one_line_in_a_pipe(zoo_command: Command) -> None:
    rows = [line.split() for line in zoo_command("list").out.splitlines()]
    for one in json.loads(zoo_command("list", "--json").out):
        assert any(row[:2] == [one["family"], one["option"]] and one["file"] in row for row in rows), one["file"]


def says(text: str, field: str) -> str:
    """What stands behind that word at the beginning of a line of a docstring, or of a comment."""
    found = re.search(rf"^[ #]*{field}: *(.*)$", text, re.MULTILINE)
    return found[1].strip() if found else ""


def all_that_says_where_it_comes_from() -> dict[str, str]:
    """The docstring of every registered part; the files of patterns and of whole models."""
    parts = {f"{family} {name}": FAMILIES[family].get(name) for family in FAMILY_PACKAGES for name in names(family)}
    patterns = {f"{one.family} {one.option}": one.config for one in catalogue() if one.part is None}
    models = {f"model {file.stem}": file for file in CONF.glob("model/*.yaml") if not file.stem.startswith("_")}
    return {key: part.__doc__ or "" for key, part in parts.items()} | {
        key: file.read_text() for key, file in (patterns | models).items()
    }


def names(family: str) -> list[str]:
    """The registered names of a family."""
    importlib.import_module(FAMILY_PACKAGES[family])
    return FAMILIES[family].names()


def test_everything_names_its_paper_or_none_and_how_it_differs_from_one() -> None:
    told = all_that_says_where_it_comes_from()
    assert {"norm rmsnorm", "tokenizer words", "schedule linear", "mixer local_global", "model mixtral"} <= told.keys()
    assert not [key for key, text in told.items() if not says(text, "paper")]
    papers = {key: text for key, text in told.items() if says(text, "paper") != "none"}
    assert not [key for key, text in papers.items() if not says(text, "differs")]


def test_a_pattern_is_listed_with_the_paper_that_its_file_names(zoo_command: Command) -> None:
    rows = json.loads(zoo_command("list", "mixer", "--json").out)
    (paper,) = (one["paper"] for one in rows if one["option"] == "local_global")
    assert paper == "Gemma Team 2024, arXiv:2408.00118"


def test_the_matrix_says_which_data_an_objective_reads() -> None:
    (table,) = (one for one in tables() if one[0] == "objective × kind of data")
    _, rows, columns, reason = table
    assert {"text", "pairs"} <= {*columns}
    refused = {(row, column) for row in rows for column in columns if reason(row, column)}
    assert refused == {("causal", "pairs"), ("masked", "pairs"), ("tagging", "text")}
    assert reason("masked", "pairs") == "the data is pairs, but this objective reads text"


def test_the_matrix_calls_options_by_the_names_they_are_chosen_by(zoo_command: Command) -> None:
    done = zoo_command("matrix")
    assert done.code == 0, done.err
    said = set(re.findall(r"\w+", done.out))
    families = ("mixer", "ffn", "topology", "position", "objective")
    assert not {one.option for one in catalogue() if one.family in families} - said
    assert "attention" not in said
    rows = [line for line in done.out.splitlines() if line.startswith("gqa, mha, mqa, sliding ")]
    assert [row.split()[4:] for row in rows] == [["yes"] * len(names("topology")), ["yes"] * len(names("position"))]
    assert "mixer local_global is a pattern over the layers" in done.out


def test_the_matrix_has_options_of_ones_own(zoo_command: Command, tmp_path: Path) -> None:
    (tmp_path / "model" / "ffn").mkdir(parents=True)
    (tmp_path / "model" / "ffn" / "mine.yaml").write_text("name: relu\nratio: 2.0\n")
    done = zoo_command("matrix", f"hydra.searchpath=['{tmp_path}']")
    assert done.code == 0, done.err
    assert "\nrelu, mine " in done.out
    assert zoo_command("matrix", "norm").code == 2


SAYS_NOTHING = {
    "a flag of show": (("list", "--vocabulary=3"), "list has no --vocabulary; show has"),
    "a flag of a corpus": (("show", "--split=test"), "show has no --split; floor and sample have"),
    "a budget": (
        ("show", "budget.steps=3"),
        "'budget.steps=3' says nothing to show, which reads model and budget.context",
    ),
    "a model": (("floor", "model=llama"), "'model=llama' says nothing to floor, which reads data and tokenizer"),
    "a part": (("sample", "model/norm=none"), "'model/norm=none' says nothing to sample, which reads data"),
    "a misspelt key": (("floor", "sed=3"), "did you mean seed?"),
    "no context": (("show", "budget.context=0"), "budget.context=0 must be at least 1"),
    "a word for a context": (("show", "budget.context=wide"), "budget.context must be a whole number, got 'wide'"),
    "no ids": (("show", "--vocabulary=0"), "--vocabulary 0 must be at least 1"),
}


@pytest.mark.parametrize("case", SAYS_NOTHING)
def test_what_says_nothing_to_a_command_is_refused(zoo_command: Command, case: str) -> None:
    words, said = SAYS_NOTHING[case]
    done = zoo_command(*words)
    assert done.code == 2
    assert said in done.err
    assert done.err.count("\n") == 1


def test_what_a_command_reads_may_be_set_in_every_way(zoo_command: Command) -> None:
    shown = zoo_command("show", "model=transformer_2017", "model/norm=none", "model.d_model=32", "budget.context=16")
    assert shown.code == 0, shown.err
    assert "FLOPs for 16 tokens" in shown.out
    sampled = zoo_command("sample", "data=sort", "data.tokens=[0,100,0]", "plugins=[]", "--split=validation")
    assert sampled.code == 0, sampled.err
