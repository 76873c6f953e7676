"""From the folder of a study to its question and its runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zoo.errors import UserError
from zoo.nearby import folders_like
from zoo.number import counted
from zoo.study.question import Question, question_of_runs, read_question
from zoo.study.run import Run, Unread, read_run
from zoo.training.files import ANEW, read_json
from zoo.training.run import read_record

POINTS = 60
"""Half of the lines of each kind that a report keeps of a run, at most."""

BEGUN = ("record.json", "metrics.jsonl")
"""A folder in which one of these lies is that of a run; the second is not written before the first."""


@dataclass(frozen=True)
class Loaded:
    """A question, and all runs that answer it so far: one for each job, in the order of the jobs."""

    folder: Path
    question: Question
    runs: tuple[Run, ...]
    unread: tuple[Unread, ...] = ()
    """Run folders that are no job's: what they are is damaged."""


def load_runs(folder: Path, points: int | None = POINTS) -> Loaded:
    """Read a study: a folder with study.json, or one that has run folders in it. Raises UserError when it is neither,
    when nothing was run, for a damaged study.json, and where no run of a plain folder can be read."""
    if not folder.is_dir():
        raise UserError(
            f"no folder {folder}{folders_like(folder)};"
            " give study= the folder of a study, or one with run folders in it"
        )
    if (folder / "study.json").exists():
        question = read_question(folder / "study.json")
        if not question.jobs:
            raise UserError(f"{folder} is an empty study: its study.json lists no jobs")
        return Loaded(folder, question, tuple(_of_study(folder, question, points)))
    return _of_folder(folder, points)


def _of_study(folder: Path, question: Question, points: int | None) -> list[Run]:
    runs = []
    for job in question.jobs:
        try:
            note = _note(folder / f"{job.job}.json")
        except UserError as error:
            note = {"state": "unreadable", "message": f"{error}; start the study again, which writes it anew"}
        place = note.get("folder")
        runs.append(read_run(job, None if place is None else folder / place, note, points))
    return runs


def _note(file: Path) -> Mapping[str, Any]:
    """What became of a job; nothing where it did not begin. Raises UserError for a damaged note."""
    note = read_json(file) if file.exists() else {}
    if not isinstance(note.get("state", ""), str) or not isinstance(note.get("folder"), str | None):
        raise UserError(f"{file} is damaged: its state or its folder is no text")
    if not isinstance(note.get("match"), dict | None):
        raise UserError(f"{file} is damaged: its match is no mapping")
    return note


def _of_folder(folder: Path, points: int | None) -> Loaded:
    places = sorted({one.parent for name in BEGUN for one in folder.glob(f"*/{name}")})
    if not places:
        raise UserError(
            f"{folder} is no study: it has neither a study.json nor run folders;"
            " give study= a folder below runs/studies or runs/sweeps, or the folder of the runs"
        )
    records: dict[Path, Mapping[str, Any]] = {}
    unread = []
    for place in places:
        try:
            records[place] = _record(place)
        except UserError as error:
            unread.append(Unread(place, str(error)))
    if not records:
        raise UserError(f"none of the {counted(len(unread), 'run')} in {folder} can be read: {unread[0].message}")
    question = question_of_runs(folder, [(place.name, record) for place, record in records.items()])
    runs = [read_run(job, place, {}, points) for job, place in zip(question.jobs, records, strict=True)]
    return Loaded(folder, question, tuple(runs), tuple(unread))


def _record(place: Path) -> Mapping[str, Any]:
    """The record of a run, with its seed. Raises UserError when it is missing or damaged."""
    record = read_record(place)
    if type(record["science"].get("seed")) is not int:
        raise UserError(f"{place / 'record.json'} is damaged: its science has no seed; {ANEW}")
    return record
