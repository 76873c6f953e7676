"""What evaluate.py does not do it does not accept."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import zoo
from tests.commands.conftest import TINY, Command

REFUSED = {
    "a split that is none": ("splits=[validation,tset]", "'tset' (did you mean test?); choose from"),
    "a split twice": ("splits=[test,validation,test]", "splits names 'test' twice"),
    "no split": ("splits=[]", "nothing to score"),
    "a negative context": ("context=-5", "error: context=-5 must be at least 1"),
    "negative batches": ("batches=-1", "error: batches=-1 must be at least 1"),
    "an empty batch": ("batch_size=0", "error: batch_size=0 must be at least 1"),
    "a cache that is no text": ("cache=5", "cache must be text, got 5"),
    "a run that is no text": ("run=5", "run must be text, got 5"),
    "a key of training": ("runtime.log_every=1", "no key 'runtime.log_every'"),
    "two evaluations at once": ("generate.prompt=a attention.text=b", "are two evaluations; ask for one at a time"),
    "a split while it speaks": ("generate.prompt=a splits=[test]", "'splits=[test]' says nothing to generate.prompt"),
    "a temperature while it is scored": ("generate.temperature=1", "says nothing to scoring; set generate.prompt too"),
    "guesses without a draft": ("generate.prompt=line generate.drafted=2", "drafted=2 does nothing without a draft"),
    "no threads": ("runtime.threads=0", "runtime.threads=0 must be at least 1"),
}


@pytest.fixture
def folder(trained: Callable[..., Path]) -> Path:
    """A trained run with a learned position table."""
    return trained("model=gpt2")


def test_what_cannot_be_done_is_refused_with_one_sentence(command: Command, folder: Path) -> None:
    for override, words in REFUSED.values():
        done = command("evaluate", f"run='{folder}'", *override.split())
        assert done.code == 2, override
        assert words in done.err
        assert done.err.count("\n") == 1


def test_a_context_beyond_the_position_table_is_refused_before_anything_is_scored(
    command: Command, folder: Path
) -> None:
    done = command("evaluate", f"run='{folder}'", "context=17")
    assert done.code == 2
    assert "context=17 positions, but the position scheme tells only 16 apart" in done.err


def test_the_runtime_acts(command: Command, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, threads = [], []
    monkeypatch.setattr(torch.nn.Module, "compile", lambda self: compiled.append(self))
    monkeypatch.setattr(torch, "set_num_threads", threads.append)
    assert (
        command(
            "evaluate", f"run='{folder}'", "runtime.compile=true", "runtime.threads=3", "runtime.dtype=float32"
        ).code
        == 0
    )
    assert len(compiled) == 1
    assert threads == [3]


def test_a_checkpoint_without_its_train_state_can_be_scored(command: Command, folder: Path) -> None:
    (checkpoint,) = (folder / "checkpoints").iterdir()
    (checkpoint / "train_state.pt").unlink()
    for run in (folder, checkpoint):
        done = command("evaluate", f"run='{run}'", "json=scores.json", "splits=[test]")
        assert done.code == 0, done.err
    assert json.loads(Path("scores.json").read_text()).keys() == {"test", "step", "last"}


ASKED = {
    "scores.json": ("splits=[test]",),
    "said.json": ("generate.prompt=a", "generate.max_new_tokens=2"),
    "seen.json": ("attention.text=a",),
    "cost.json": ("latency.prompts=[4]", "latency.batches=[1]", "latency.new_tokens=2", "latency.repetitions=1"),
}


def test_json_says_which_weights_it_is_of(command: Command, text: Path, tmp_path: Path) -> None:
    assert command("train", "data=text", f"data.path='{text}'", *TINY, "record.checkpoint_every=2").code == 0
    (folder,) = (tmp_path / "runs").iterdir()
    older, newest = (folder / "checkpoints" / f"step_{step}" for step in (2, 4))

    def asked(run: Path) -> set[tuple[int, bool | None]]:
        said = set()
        for name, words in ASKED.items():
            done = command("evaluate", f"run='{run}'", *words, f"json={name}", "runtime.threads=1")
            assert done.code == 0, done.err
            found = json.loads(Path(name).read_text())
            found = found[0] if isinstance(found, list) else found
            said.add((found["step"], found["last"]))
            mark = "Not the last weights of the run: these are of step 2." in done.out + done.err
            assert mark == (found["last"] is False)
        return said

    assert asked(folder) == {(4, True)}
    shutil.copytree(older, tmp_path / "elsewhere")
    assert asked(older) == {(2, False)}
    (newest / "model.safetensors").write_bytes(b"damaged")
    assert asked(folder) == {(2, False)}
    shutil.rmtree(newest)
    assert asked(folder) == {(2, False)}
    (folder / "status.json").write_text('{"state": "running"}')
    for run, last in ((folder, True), (tmp_path / "elsewhere", None)):
        assert (zoo.load(run).step, zoo.load(run).last) == (2, last)


def test_a_finished_run_without_its_checkpoints_says_so(command: Command, folder: Path) -> None:
    shutil.rmtree(folder / "checkpoints")
    done = command("evaluate", f"run='{folder}'")
    assert done.code == 2
    assert (
        done.err == f"error: the checkpoints of the finished run {folder} are gone; remove the folder to begin anew\n"
    )
    assert "its checkpoints are gone" in command("train", f"resume='{folder}'").out
    (folder / "status.json").write_text('{"state": "running"}')
    assert "has no checkpoint yet" in command("evaluate", f"run='{folder}'").err


def test_all_of_another_text_can_be_scored(command: Command, folder: Path) -> None:
    """One split that has everything: each byte but the first is predicted."""
    Path("other.txt").write_text("another text, all of it\n" * 30)
    where = ("data=text", "data.path=other.txt", "data.split=[0,0,1]")
    done = command("evaluate", f"run='{folder}'", *where, "json=scores.json")
    assert done.code == 0, done.err
    scores = json.loads(Path("scores.json").read_text())
    assert scores.keys() == {"test", "step", "last"}
    assert scores["test"]["tokens"] == 24 * 30 - 1


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (("model=gpt2", "model.position.max_positions=8"), "budget.context=16 positions"),
        (("objective=seq2seq", "model/topology=prefix_lm", "budget.context=1"), "budget.context=1"),
    ],
)
def test_rows_that_do_not_fit_are_refused_before_there_is_a_folder(
    command: Command, text: Path, tmp_path: Path, overrides: tuple[str, ...], words: str
) -> None:
    done = command("train", "data=text", f"data.path='{text}'", *TINY, *overrides)
    assert done.code == 2
    assert words in done.err
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (("schedule.warmup=4",), "schedule.warmup=4 must be below budget.steps=4"),
        (("model=gpt2", "model.position.max_positions=8"), "budget.context=16 positions, but"),
        (("model.d_model=15",), "15"),
    ],
)
def test_what_needs_no_corpus_to_be_told_is_told_before_one_is_made(
    command: Command, tmp_path: Path, overrides: tuple[str, ...], words: str
) -> None:
    done = command("train", "data=toy", *TINY, *overrides)
    assert done.code == 2
    assert words in done.err
    assert not (tmp_path / ".cache").exists()


def test_a_run_outlives_the_variable_that_its_config_named(
    command: Command, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its folder keeps what the variable said: it is scored, found again and reported in another folder."""
    monkeypatch.setenv("MY_CORPUS", str(text))
    words = ("data=text", "data.path=${oc.env:MY_CORPUS}", *TINY)
    assert command("train", *words).code == 0
    (folder,) = (tmp_path / "runs").iterdir()
    expected = json.loads((folder / "status.json").read_text())["scores"]
    monkeypatch.delenv("MY_CORPUS")
    assert "MY_CORPUS" not in (folder / "config.yaml").read_text()
    (tmp_path / "elsewhere").mkdir()
    done = command("evaluate", f"run='{folder}'", "json=scores.json", folder=tmp_path / "elsewhere")
    assert done.code == 0, done.err
    assert json.loads((tmp_path / "elsewhere" / "scores.json").read_text())["test"]["loss"] == expected["test"]["loss"]
    resumed = command("train", f"resume='{folder}'", folder=tmp_path / "elsewhere")
    assert (resumed.code, "done already" in resumed.out) == (0, True)
    assert command("evaluate", f"study='{folder.parent}'", folder=tmp_path / "elsewhere").code == 0
    again = command("train", *words)
    assert (again.code, "MY_CORPUS" in again.err) == (2, True)
