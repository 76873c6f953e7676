"""What a person is told of the jobs of a study while they run."""

from pathlib import Path

import pytest

from zoo.study.plan import Job
from zoo.study.watch import Watch
from zoo.sweep.notes import Note

JOB = Job(0, "rmsnorm", {}, 3, ("seed=3",))


@pytest.mark.parametrize("folder", [None, "../../a_run"])
def test_a_job_is_told_to_have_started_once_however_late_it_is_looked_at(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], folder: str | None
) -> None:
    with Watch(tmp_path, [JOB], 1, 0):
        Note(0, JOB.overrides, folder=folder).write(tmp_path)
    assert capsys.readouterr().out == "rmsnorm, seed 3: started\n"


def test_a_run_that_was_there_is_not_told_to_have_started(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Watch(tmp_path, [JOB], 1, 0):
        Note(0, JOB.overrides, folder="../../a_run", found=True).write(tmp_path)
    assert capsys.readouterr().out == ""
