"""A corpus whose best possible loss is known: every run on it says how far from perfect it is, and at what."""

import json
import sys
from pathlib import Path

import pytest

from tests.commands.conftest import TINY, Command
from zoo.__main__ import main

SMALL = ("data.tokens=[20000,2000,2000]",)


def metrics(root: Path, split: str) -> dict:
    (file,) = root.glob("runs/*/metrics.jsonl")
    (line,) = [line for line in map(json.loads, file.read_text().splitlines()) if line["split"] == split]
    return line


@pytest.mark.parametrize(
    "options",
    [
        ("data=toy",),
        ("data=toy", "tokenizer=bytes"),
        ("data=toy_translation", "tokenizer=words", "model=transformer_2017", "budget.context=64"),
        ("data=toy_translation", "tokenizer=words", "objective=seq2seq", "budget.context=64"),
        ("data=toy", "tokenizer=words", "objective=seq2seq", "model/topology=prefix_lm"),
        ("data=toy_spans", "objective=tagging", "model=bert", "budget.context=128"),
        ("data=mqar", "budget.context=48"),
    ],
    ids=" ".join,
)
def test_a_run_on_the_toy_language_says_how_far_above_the_floor_it_is(
    command: Command, tmp_path: Path, corpora: str, options: tuple[str, ...]
) -> None:
    done = command("train", *TINY, *options, *SMALL, corpora)
    assert done.code == 0, done.err
    assert "above the floor" in done.out
    line = metrics(tmp_path, "test")
    skills = line["skills"].values()
    assert sum(one["tokens"] for one in skills) == line["scored"]
    for key in ("loss", "floor", "accuracy"):
        assert sum(one["tokens"] * one[key] for one in skills) / line["scored"] == pytest.approx(line[key], rel=1e-6)
    assert line["loss"] > line["floor"]
    assert ("chance" in done.out) == any(one["lines"] or "2–3" in one["determined_by_distance"] for one in skills)


def test_objectives_that_read_from_both_sides_have_no_floor(command: Command, tmp_path: Path, corpora: str) -> None:
    assert command("train", *TINY, "model=bert", "data=toy", "tokenizer=words", *SMALL, corpora).code == 0
    assert "floor" not in metrics(tmp_path, "test")


@pytest.mark.parametrize("words", [["floor", "data=toy"], ["sample", "data=toy", "--split", "test"]], ids=" ".join)
def test_the_language_can_be_looked_at(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["zoo", *words, *SMALL])
    main()
    said = capsys.readouterr().out
    assert "recall" in said
    assert "agreement" in said
    lines = said.splitlines()
    if words[0] == "floor":
        assert lines[-1].endswith("of the words are determined")
        assert " nats per word" in lines[-1]
    else:
        assert 80 < max(map(len, lines)) <= 120


def test_the_floor_as_json_adds_up(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["zoo", "floor", "data=toy", "--json", *SMALL])
    main()
    found = json.loads(capsys.readouterr().out)
    assert (found["data"], found["tokenizer"], found["tokens"]) == ("toy", "words", found["words"])
    assert 0 < found["nats"] < 5
    monkeypatch.setattr(sys, "argv", ["zoo", "floor", "data=toy", "tokenizer=bytes", "--json", *SMALL])
    main()
    in_bytes = json.loads(capsys.readouterr().out)
    assert in_bytes["tokens"] > in_bytes["bytes"] > 3 * found["tokens"]  # end marks are tokens, but no bytes
    assert in_bytes["nats"] * in_bytes["tokens"] == pytest.approx(found["nats"] * found["tokens"])
    assert in_bytes["determined"] == found["determined"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["floor", "data=pydoc"], "choose data=toy"),
        (["floor", "data=toy", "tokenizer.vocabulary=100", *SMALL], "set tokenizer.vocabulary higher"),
        (["floor", "data=toy", "--split", "tset"], "makes no split 'tset' (did you mean test?)"),
        (["sample", "data=toy", "--split", "nope"], "choose from train, validation, test"),
        (["floor", "data=toy", "data.tokens=[9,0,9]"], "makes no split 'validation'"),
        (["show", "--vocabulary", "99999999999999999999"], "must be at most 16777216"),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, list) else "",
)
def test_what_cannot_be_looked_at_is_refused(
    words: list[str], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["zoo", *words])
    with pytest.raises(SystemExit, match="2"):
        main()
    assert said in capsys.readouterr().err
