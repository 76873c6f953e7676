"""What a person is told of the jobs of a study while they run."""

import os
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


@pytest.fixture
def unwatched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looks but the test."""
    monkeypatch.setattr("zoo.study.watch.PERIOD", 3600.0)


def jobs(count: int) -> list[Job]:
    return [Job(i, "rmsnorm", {}, i, (f"seed={i}",)) for i in range(count)]


def before(folder: Path, job: Job, state: str) -> None:
    """What an earlier start left of the job."""
    Note(job.job, job.overrides, state, folder="../../a_run").write(folder)
    os.utime(folder / f"{job.job}.json", (0, 0))


@pytest.mark.usefixtures("unwatched")
def test_the_first_new_run_tells_how_long_the_others_take(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Those that an earlier start made are not counted; those of a second phase are."""
    some = jobs(6)
    before(tmp_path, some[0], "done")
    with Watch(tmp_path, some, 9, 0, 2) as watch:
        Note(0, some[0].overrides, "done", folder="../../a_run", found=True, seconds=0.1).write(tmp_path)
        watch._look()
        Note(1, some[1].overrides, "done", folder="../../another", seconds=60.0).write(tmp_path)
        watch._look()
        Note(2, some[2].overrides, "done", folder="../../a_third", seconds=90.0).write(tmp_path)
    said = capsys.readouterr().out.splitlines()
    extent = "9 runs, 1 of them made before, 2 at once; how long they take is told after the first"
    assert said[0] == f"{tmp_path}: {extent}"
    after = said.index("[2/9] rmsnorm, seed 1: done in 1:00")
    assert said[after + 1] == "about 4 min for the 7 runs that are left, if they take as long as this one"
    assert [line for line in said if line.startswith("about")] == [said[after + 1]]


@pytest.mark.usefixtures("unwatched")
def test_a_run_of_which_an_earlier_start_made_a_part_tells_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    some = jobs(4)
    before(tmp_path, some[0], "interrupted")
    with Watch(tmp_path, some, 4, 0, 1) as watch:
        Note(0, some[0].overrides, "done", folder="../../a_run", seconds=2.0).write(tmp_path)
        watch._look()
        Note(1, some[1].overrides, "done", folder="../../another", seconds=60.0).write(tmp_path)
    said = [line for line in capsys.readouterr().out.splitlines() if line.startswith("about")]
    assert said == ["about 2 min for the 2 runs that are left, if they take as long as this one"]


@pytest.mark.parametrize(("count", "said"), [(2, "2 runs, 2 at once"), (1, "1 run")])
def test_no_more_run_at_once_than_there_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], count: int, said: str
) -> None:
    with Watch(tmp_path, jobs(count), count, 0, 8):
        pass
    assert capsys.readouterr().out == f"{tmp_path}: {said}\n"


def test_what_a_run_did_before_it_began_is_not_expected_of_the_others() -> None:
    pace = Pace(range(4), (), later=0, beside=1)
    pace.began(0, at=50 * 10**9)  # by then it has made the corpus
    said = pace.ended(0, at=60 * 10**9, seconds=60.0, done=True)
    assert said.startswith("about 30 s for the 3 runs that are left")
    last = Pace(range(3), (), later=0, beside=3)
    assert last.ended(0, at=1, seconds=1.0, done=True) == ""  # none is left to begin
    failed = Pace(range(4), (), later=0, beside=1)
    assert failed.ended(0, at=1, seconds=0.1, done=False) == ""


@pytest.mark.parametrize(
    ("fresh", "later", "beside", "said"),
    [
        (3, 0, 2, "about 60 s for the 2 runs that are left"),
        (6, 0, 2, "about 2 min for the 5 runs that are left"),
        (3, 3, 2, "about 3 min for the 5 runs that are left"),  # the later ones wait until the others are over
        (1, 1, 4, "about 60 s for the run that is left"),
    ],
)
def test_a_run_takes_its_time_however_few_run_beside_it(fresh: int, later: int, beside: int, said: str) -> None:
    pace = Pace(range(fresh), (), later, beside)
    assert pace.will_tell
    assert pace.ended(0, at=1, seconds=60.0, done=True).startswith(said)


def test_that_a_time_will_be_told_is_said_only_where_new_runs_wait() -> None:
    assert not Pace(range(4), range(3), later=0, beside=1).will_tell
    assert not Pace(range(4), range(4), later=2, beside=1).will_tell
    assert Pace(range(4), range(2), later=0, beside=1).will_tell


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.2, "1 s"),
        (45.0, "45 s"),
        (179.0, "3 min"),
        (5400.0, "1.5 h"),
        (35_900.0, "10 h"),
        (72_000.0, "20 h"),
        (345_600.0, "4 days"),
    ],
)
def test_a_time_is_told_in_one_unit(seconds: float, said: str) -> None:
    assert lasting(seconds) == said
