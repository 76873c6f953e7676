"""What is known of the runs of a study stays known, whatever becomes of a later start before it comes to them."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.commands.conftest import TINY, Command
from zoo.study.loading import load_runs
from zoo.sweep.notes import read_notes

WORDS = ("study=norm", "study.variants=[{name: a, overrides: []}]", "study.published=[]", "hydra/launcher=basic", *TINY)

SEEDS = "seed=0,1"


@pytest.fixture
def options(text: Path) -> tuple[str, ...]:
    """A study of one variant on a small text."""
    return (*WORDS, "data=text", f"data.path='{text}'", "study.fixed=[]", "study.reference=a")


def losses(study: Path) -> list[float | None]:
    """What the report has of the runs."""
    return [run.value("test loss") for run in load_runs(study).runs]


def ended(study: Path) -> list[tuple[str, str | None]]:
    """State, and how the last start ended where it is another one, of each note."""
    return [(note.state, note.again) for note in read_notes(study).values()]


def test_runs_are_compared_although_their_corpus_is_gone_when_the_study_is_started_again(
    command: Command, tmp_path: Path, text: Path, options: tuple[str, ...]
) -> None:
    study = tmp_path / "runs" / "studies" / "norm"
    assert command("train", *options, SEEDS).code == 0
    before, notes = losses(study), read_notes(study)
    assert None not in before
    text.rename(tmp_path / "away")
    again = command("train", *options, SEEDS)
    assert again.code == 2
    assert again.err.count("error: data.path: there is no") == 2
    assert "norm: 2 bad input" in again.out
    assert ended(study) == [("done", "bad input")] * 2
    assert losses(study) == before
    assert command("evaluate", f"study={study}").code == 0
    more = command("train", *options, "seed=0,1,2")
    assert more.code == 2
    assert ended(study) == [("done", "bad input")] * 2 + [("bad input", None)]
    (tmp_path / "away").rename(text)
    last = command("train", *options, SEEDS)
    assert last.code == 0
    assert last.out.count("was there already") == 2
    assert ended(study) == [("done", None)] * 2
    assert [note.folder for note in read_notes(study).values()] == [note.folder for note in notes.values()]
    assert losses(study) == before


@pytest.mark.parametrize("how", ["interrupted", "killed"])
def test_runs_are_compared_although_a_later_start_ends_before_it_comes_to_them(
    command: Command, tmp_path: Path, options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    study = tmp_path / "runs" / "studies" / "norm"
    assert command("train", *options, SEEDS).code == 0
    before = losses(study)

    def end(*arguments: Any, **options: Any) -> None:
        if how == "interrupted":
            raise KeyboardInterrupt
        note = json.loads((study / "0.json").read_text())
        assert (note["state"], note["before"]) == ("running", "done")  # what a kill leaves behind
        assert losses(study) == before
        os.kill(os.getpid(), signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr("zoo.jobs.prepared.load_corpus", end)
        assert command("train", *options, SEEDS).code == 130
    assert ended(study) == [("done", "interrupted"), ("done", None)]
    assert losses(study) == before
