"""`evaluate.py translation.pairs=…` translates what was held out and says how well."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands.conftest import Command
from tests.commands.test_strict import HEAD, MARK, rewrite, without

SMALL = ("data.tokens=[2000,300,300]", "data.sentences=4", "data.shortest=0")
TOY = ("data=toy_translation", *SMALL, "budget.context=32")
QUICK = "runtime=reference"


@pytest.mark.parametrize(
    "model",
    [
        ("model=transformer_2017",),
        ("model/topology=prefix_lm", "objective=seq2seq"),
        ("model/topology=decoder_only", "objective=seq2seq"),
    ],
    ids=lambda words: words[0],
)
def test_every_translator_of_the_toy_language_is_scored_up_to_synonyms(
    command: Command, trained: Callable[..., Path], corpora: str, model: tuple[str, ...]
) -> None:
    folder = trained(*model, *TOY, corpora)
    words = ("translation.pairs=5", "json=copy.json", "batch_size=3", QUICK, corpora)
    done = command("evaluate", f"run='{folder}'", *words)
    assert done.code == 0, done.err
    assert "exact match: share of the translations" in done.out
    assert "translated 5 of 5 pairs of test" in done.err
    found = json.loads((folder / "translation.json").read_text())
    assert json.loads(Path("copy.json").read_text()) == found
    assert not list(folder.glob(".*.tmp"))
    assert [(one["split"], one["pairs"]) for one in found["splits"]] == [("validation", 5), ("test", 5)]
    assert (found["asked"], found["run"], found["step"], found["last"]) == (5, folder.name, 4, True)
    assert f"version:{found['sacrebleu']}" in found["signature"]
    for one in found["splits"]:
        assert 0 <= one["exact"] <= one["synonyms"]["exact"] <= 1
        assert 0 <= one["chrf"] < 100
        assert len(one["examples"]) == 3
    (example, *_) = found["splits"][0]["examples"]
    assert [line.split(maxsplit=1)[0] for line in done.out.splitlines()[-12:] if line][-3:] == list(example)
    assert f"reference    {example['reference']}" in done.out


def test_pairs_of_ones_own_are_scored_without_synonyms(
    command: Command, trained: Callable[..., Path], tmp_path: Path
) -> None:
    lines = [f"{i}\tnumber {i}\n" for i in range(200)] + [f"{i} {i} {i} {i}\tlong [b]{i}\n" for i in range(1000, 1020)]
    (tmp_path / "long.tsv").write_text("".join(lines))
    folder = trained("model=transformer_2017", "data=pairs", "data.path=long.tsv")
    done = command("evaluate", f"run='{folder}'", "translation.pairs=1000", "splits=[test]")
    assert done.code == 0, done.err
    (one,) = json.loads((folder / "translation.json").read_text())["splits"]
    assert one["split"] == "test"
    assert one["synonyms"] is None
    assert 0 < one["pairs"] < 40
    assert one["too_long"] > 0
    assert f"test: {one['too_long']} pair" in done.out
    assert "—" in done.out


def test_a_model_that_lacks_a_tensor_is_marked_in_its_scores(
    command: Command, trained: Callable[..., Path], pairs: Path
) -> None:
    folder = trained("model=transformer_2017", *PAIRS, "model.embedding.tie=none")
    rewrite(folder, without)
    done = command("evaluate", f"run='{folder}'", "translation.pairs=2", "strict=false", QUICK)
    assert done.code == 0, done.err
    assert MARK in done.out
    assert json.loads((folder / "translation.json").read_text())["mismatch"]["missing"] == [HEAD]


PAIRS = ("data=pairs", "data.path=pairs.tsv")
REFUSED = {
    ("translation.pairs=0",): "translation.pairs=0 must be at least 1",
    ("translation.pairs=many",): "translation.pairs must be a whole number",
    ("translation.pairs=2", "splits=[tset]"): "did you mean test?",
    ("translation.pairs=2", "generate.prompt=a"): "two evaluations; ask for one at a time",
    ("translation.pairs=2", "data=toy"): "'data=toy' says nothing to translation.pairs",
    ("translation.pairs=2", "batch_size=0"): "batch_size=0 must be at least 1",
    ("translation=3",): "translation must be a mapping, as in translation.pairs=",
}


def test_what_cannot_be_scored_is_refused(command: Command, trained: Callable[..., Path], pairs: Path) -> None:
    folder = trained("model=transformer_2017", *PAIRS)
    for words, said in REFUSED.items():
        done = command("evaluate", f"run='{folder}'", *words)
        assert (done.code, done.err.count("\n")) == (2, 1), done.err
        assert said in done.err
    assert not (folder / "translation.json").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("data=text", "data.path=pairs.tsv"), "a run of objective=causal does not translate"),
        (("model=bert", "data=text", "data.path=pairs.tsv"), "a run of objective=masked does not translate"),
        (("model=transformer_2017", "data=text", "data.path=pairs.tsv"), "trained on data=text, which has no pairs"),
        (("model=transformer_2017", *PAIRS, "data.split=[1,0,0]"), "splits: nothing to score; choose from train"),
    ],
)
def test_a_run_that_has_nothing_to_translate_is_refused(
    command: Command, trained: Callable[..., Path], pairs: Path, words: tuple[str, ...], said: str
) -> None:
    pairs.write_text(pairs.read_text() * 2)
    folder = trained(*words)
    done = command("evaluate", f"run='{folder}'", "translation.pairs=2")
    assert (done.code, done.err.count("\n")) == (2, 1), done.err
    assert said in done.err
    assert not (folder / "translation.json").exists()


def test_without_sacrebleu_the_install_line_comes_before_anything_else(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    done = command("evaluate", "run=nowhere", "translation.pairs=2")
    assert done.code == 2
    assert "pip install -e '.[translation]'" in done.err
    assert done.err.count("\n") == 1
