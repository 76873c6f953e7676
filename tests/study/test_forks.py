"""Forks of a process that has imported all that a run needs: what becomes of what they are told to do."""

import operator
import os
import signal
import struct
import time
from collections.abc import Iterator
from contextlib import closing
from multiprocessing.reduction import ForkingPickler
from pathlib import Path

import pytest

from zoo.study.forks import Forks, WorkerLostError
from zoo.study.order import LongestFirst, Order
from zoo.sweep.notes import stop


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    found = Forks(threads=1)
    yield found
    found.close()


def test_calls_are_done_side_by_side_in_few_processes_that_have_torch(forks: Forks) -> None:
    pids = forks.run([(os.getpid, ())] * 20, beside=2)
    assert len(pids) == 20
    assert len(set(pids)) <= 2
    assert os.getpid() not in pids
    assert forks.run([(eval, ("'torch' in __import__('sys').modules",))], beside=1) == [True]
    assert forks.run([(os.getenv, ("OMP_NUM_THREADS",))], beside=1) == [os.environ.get("OMP_NUM_THREADS", "1")]


def test_what_one_raises_is_raised_when_all_are_done(forks: Forks, tmp_path: Path) -> None:
    made = [(os.mkdir, (f"{tmp_path}/{name}",)) for name in "abc"]
    with pytest.raises(ZeroDivisionError):
        forks.run([(operator.floordiv, (1, 0)), *made], beside=1)
    assert sorted(os.listdir(tmp_path)) == ["a", "b", "c"]


def test_a_process_that_is_killed_is_told_and_replaced(forks: Forks, tmp_path: Path) -> None:
    made = [(os.mkdir, (f"{tmp_path}/{name}",)) for name in "abc"]
    with pytest.raises(WorkerLostError):
        forks.run([(os._exit, (9,)), *made], beside=2)
    assert sorted(os.listdir(tmp_path)) == ["a", "b", "c"]


def test_an_idle_process_that_was_killed_is_replaced(forks: Forks) -> None:
    for pid in set(forks.run([(os.getpid, ())] * 8, beside=2)):
        os.kill(pid, signal.SIGKILL)
    time.sleep(0.2)
    assert len(forks.run([(os.getpid, ())] * 8, beside=2)) == 8


def test_when_the_process_that_forks_is_gone_those_at_work_are_waited_for(tmp_path: Path) -> None:
    with closing(Forks(threads=1)) as lone:
        (pid,) = lone.run([(os.getppid, ())], beside=1)

        class Killing(Order):
            def next(self) -> int | None:
                if len(self.waiting) == 1:
                    os.kill(pid, signal.SIGKILL)
                    time.sleep(0.2)
                return super().next()

        calls = [
            (eval, (f"__import__('time').sleep(1) or __import__('os').mkdir('{tmp_path}/a')",)),
            (os.mkdir, (f"{tmp_path}/b",)),
        ]
        with pytest.raises(WorkerLostError, match="killed at its work"):
            lone.run(calls, 2, Killing(2))
        assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def parent(forks: Forks) -> int:
    """The process that forks."""
    (found,) = forks.run([(os.getppid, ())], beside=1)
    return int(found)


def test_where_the_process_that_forks_is_killed_another_takes_its_place(forks: Forks) -> None:
    before = parent(forks)
    cut_short = "__import__('os').kill(__import__('os').getppid(), 9) or __import__('time').sleep(1)"
    with pytest.raises(WorkerLostError):
        forks.run([(eval, (cut_short,)), (os.getpid, ()), (os.getpid, ())], beside=1)
    after = parent(forks)
    assert after not in (before, os.getpid())
    os.kill(after, signal.SIGKILL)
    time.sleep(0.2)
    assert parent(forks) != after


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_for_the_launcher_do_not_end_the_process_that_forks(number: signal.Signals, forks: Forks) -> None:
    before = parent(forks)
    os.kill(before, number)
    time.sleep(0.2)
    assert forks.run([(os.getppid, ())] * 2, beside=2) == [before] * 2


def test_a_signal_does_not_cut_short_what_a_process_is_told(forks: Forks) -> None:
    heed = (signal.signal, (signal.SIGTERM, signal.default_int_handler))  # as a job does
    (pid,) = forks.run([(eval, ("__import__('os').getpid()",))], beside=1)
    assert forks.run([heed], beside=1)
    whole = bytes(ForkingPickler.dumps((os.getpid, ())))
    (idle,) = (one for one in forks._idle[-1:])
    os.write(idle.fileno(), struct.pack("!i", len(whole)) + whole[:5])
    time.sleep(0.2)
    os.kill(pid, signal.SIGTERM)
    time.sleep(0.2)
    os.write(idle.fileno(), whole[5:])
    assert idle.poll(20)
    assert idle.recv() == (pid, None)


def test_ctrl_c_does_not_end_the_process_that_forks_while_it_starts() -> None:
    short = Forks(threads=1)
    os.kill(short._process.pid, signal.SIGINT)
    try:
        assert parent(short) == short._process.pid
    finally:
        short.close()


def test_none_is_begun_when_it_is_over(forks: Forks) -> None:
    class Two(Order):
        def next(self) -> int | None:
            return super().next() if len(self.waiting) > 7 else None

    assert len(forks.run([(os.getpid, ())] * 9, 1, Two(9))) == 2


def test_jobs_start_seed_by_seed_and_of_a_seed_the_longest_first(tmp_path: Path) -> None:
    own = "+hydra.job.env_set.ZOO_JOB"
    names = ("short", "long", "middle")
    jobs = [[f"model={name}", f"seed={seed}", f"{own}={seed}{name}"] for seed in (0, 1, 2) for name in names]
    order = LongestFirst(jobs, tmp_path)
    began = [order.next() for _ in range(2)]
    order.ended(0, 1.0)
    order.ended(1, 3.0)
    began += [order.next() for _ in range(2)]  # of seed 1 the one whose like still runs
    order.ended(2, 2.0)
    began += [order.next() for _ in range(4)]
    assert began == [0, 1, 2, 5, 4, 3, 7, 8]
    stop(tmp_path)
    assert order.next() is None


def test_processes_end_when_it_is_closed() -> None:
    short = Forks(threads=1)
    (pid,) = short.run([(os.getpid, ())], beside=1)
    short.close()
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    raise AssertionError("it is still there")
