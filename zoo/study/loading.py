"""From the folder of a study to its question and its runs."""

from dataclasses import dataclass
from pathlib import Path

from zoo.errors import UserError
from zoo.nearby import folders_like
from zoo.study.question import Question, question_of_runs, read_question
from zoo.study.run import Run, read_run
from zoo.training.files import ANEW, read_json
from zoo.training.run import read_record

POINTS = 60
"""Half of the lines of each kind that a report keeps of a run, at most."""


@dataclass(frozen=True)
class Loaded:
    """A question, and all runs that answer it so far: one for each job, in the order of the jobs."""

    folder: Path
    question: Question
    runs: tuple[Run, ...]


def load_runs(folder: Path, points: int | None = POINTS) -> Loaded:
    """Read a study: a folder with study.json, or one that has run folders in it. Raises UserError when it is neither,
    when nothing was run, and for a damaged study.json or note."""
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
        file = folder / f"{job.job}.json"
        note = read_json(file) if file.exists() else {}
        place = note.get("folder")
        if not isinstance(note.get("state", ""), str) or not isinstance(place, str | None):
            raise UserError(f"{file} is damaged: its state or its folder is no text; start the study again")
        runs.append(read_run(job, None if place is None else folder / place, note, points))
    return runs


def _of_folder(folder: Path, points: int | None) -> Loaded:
    places = sorted(one.parent for one in folder.glob("*/record.json"))
    if not places:
        raise UserError(
            f"{folder} is no study: it has neither a study.json nor run folders;"
            " give study= a folder below runs/studies or runs/sweeps, or the folder of the runs"
        )
    records = [(place.name, read_record(place)) for place in places]
    for place, (_, record) in zip(places, records, strict=True):
        if type(record["science"].get("seed")) is not int:
            raise UserError(f"{place / 'record.json'} is damaged: its science has no seed; {ANEW}")
    question = question_of_runs(folder, records)
    runs = [read_run(job, place, {}, points) for job, place in zip(question.jobs, places, strict=True)]
    return Loaded(folder, question, tuple(runs))
