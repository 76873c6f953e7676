"""Jobs are launched until each has ended: what a launcher raises is told apart."""

import logging
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from zoo.errors import UserError
from zoo.study.forks import WorkerLostError
from zoo.study.launching import launch_all
from zoo.study.plan import Job
from zoo.sweep.notes import Note, read_notes
from zoo.sweep.worker import into_log

JOBS = [Job(number, "a", {}, number, (f"seed={number}",)) for number in range(3)]
Launch = Callable[[Sequence[Job]], None]


def launches(folder: Path, *each: BaseException | None, begun: int = 0) -> tuple[Launch, list[list[int]]]:
    """A launcher that raises these, one at each launch, while so many of the jobs have begun and not ended; where it
    raises nothing, all are done. And the numbers that it was told to launch."""
    told: list[list[int]] = []

    def launch(jobs: Sequence[Job]) -> None:
        error = each[len(told)]
        told.append([job.job for job in jobs])
        for job in jobs[:begun] if error else jobs:
            Note(job.job, job.overrides, "running" if error else "done").write(folder)
        if error:
            raise error

    return launch, told


def test_a_process_that_is_killed_before_it_began_a_job_is_replaced_once(tmp_path: Path) -> None:
    launch, told = launches(tmp_path, WorkerLostError("killed"), None)
    launch_all(launch, JOBS, tmp_path)
    assert told == [[0, 1, 2]] * 2
    assert [note.state for note in read_notes(tmp_path).values()] == ["done"] * 3
    launch, told = launches(tmp_path, WorkerLostError("killed"), WorkerLostError("again"))
    with pytest.raises(WorkerLostError, match="again"):
        launch_all(launch, JOBS, tmp_path)
    launch, told = launches(tmp_path, OSError("no more processes"))
    with pytest.raises(OSError, match="no more processes"):
        launch_all(launch, JOBS, tmp_path)


def test_what_was_begun_when_a_process_was_killed_is_launched_alone(tmp_path: Path) -> None:
    launch, told = launches(tmp_path, WorkerLostError("killed"), None, None, begun=1)
    launch_all(launch, JOBS, tmp_path)
    assert told == [[0, 1, 2], [1, 2], [0]]


def test_a_note_that_the_disk_refuses_is_no_killed_process(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    full = UserError("cannot write 0.json: No space left on device")
    launch, told = launches(tmp_path, full, begun=1)
    with pytest.raises(UserError, match="No space left"):
        launch_all(launch, JOBS, tmp_path)
    assert told == [[0, 1, 2]]
    assert "a worker was lost" not in capsys.readouterr().err


def test_a_log_that_the_disk_refuses_does_not_end_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])  # a command before may have left one
    reached = []
    with into_log(Path("/dev/full")):
        print("word " * 10_000, flush=True)
        reached.append(True)
    assert reached
    with pytest.raises(UserError, match="cannot write"), into_log(tmp_path / "nowhere" / "0.log"):
        pass
    with into_log(tmp_path / "0.log"):
        print("—")
    with into_log(tmp_path / "0.log"):
        print("more")
    assert (tmp_path / "0.log").read_text() == "—\nmore\n"
