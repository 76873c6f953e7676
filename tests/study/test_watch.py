"""What a person is told of the jobs of a study while they run."""

from pathlib import Path

import pytest

from zoo.study.pace import Pace, lasting
from zoo.study.plan import Job
from zoo.study.watch import Watch
from zoo.sweep.notes import Note

JOB = Job(0, "rmsnorm", {}, 3, ("seed=3",))


@pytest.mark.parametrize("folder", [None, "../../a_run"])
def test_a_job_is_told_to_have_started_once_however_late_it_is_looked_at(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], folder: str | None
) -> None:
    with Watch(tmp_path, [JOB], 1, 0, 1):
        Note(0, JOB.overrides, folder=folder).write(tmp_path)
    assert capsys.readouterr().out == f"{tmp_path}: 1 run\nrmsnorm, seed 3: started\n"


def test_a_run_that_was_there_is_not_told_to_have_started(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Watch(tmp_path, [JOB], 1, 0, 1):
        Note(0, JOB.overrides, folder="../../a_run", found=True).write(tmp_path)
    assert capsys.readouterr().out == f"{tmp_path}: 1 run\n"


def test_the_first_new_run_tells_how_long_the_others_take(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Those that an earlier start made are not counted; those of a second phase are."""
    jobs = [Job(i, "rmsnorm", {}, i, (f"seed={i}",)) for i in range(6)]
    Note(0, jobs[0].overrides, "done", folder="../../a_run").write(tmp_path)
    watch = Watch(tmp_path, jobs, 9, 0, 2)
    with watch:
        Note(0, jobs[0].overrides, "done", folder="../../a_run", found=True, seconds=0.1).write(tmp_path)
        watch._look()
        Note(1, jobs[1].overrides, "done", folder="../../another", seconds=60.0).write(tmp_path)
        watch._look()
        Note(2, jobs[2].overrides, "done", folder="../../a_third", seconds=90.0).write(tmp_path)
    said = capsys.readouterr().out.splitlines()
    before = "9 runs, 1 of them made before, 2 at once; how long they take is told after the first"
    assert said[0] == f"{tmp_path}: {before}"
    after = said.index("[2/9] rmsnorm, seed 1: done in 1:00")
    assert said[after + 1] == "about 3 min for the 7 runs that are left, if they take as long as this one"
    assert [line for line in said if line.startswith("about")] == [said[after + 1]]


def test_what_a_run_did_before_it_began_is_not_expected_of_the_others() -> None:
    pace = Pace(range(4), later=0, beside=1)
    pace.began(0, at=50 * 10**9)  # by then it has made the corpus
    said = pace.ended(0, at=60 * 10**9, seconds=60.0, done=True)
    assert said.startswith("about 30 s for the 3 runs that are left")
    last = Pace(range(3), later=0, beside=3)
    assert last.ended(0, at=1, seconds=1.0, done=True) == ""  # none is left to begin
    failed = Pace(range(4), later=0, beside=1)
    assert failed.ended(0, at=1, seconds=0.1, done=False) == ""


@pytest.mark.parametrize(("seconds", "said"), [(45.0, "45 s"), (179.0, "3 min"), (5400.0, "1.5 h")])
def test_a_time_is_told_in_one_unit(seconds: float, said: str) -> None:
    assert lasting(seconds) == said
