"""A run says what to do where other work keeps the cores busy."""

import os

import pytest

from zoo.training.busy import advice


def loaded(monkeypatch: pytest.MonkeyPatch, load: float, cores: int = 2) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0), raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: cores)


def test_several_threads_on_busy_cores_are_advised_against(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded(monkeypatch, 5.8)
    assert "load 5.8 on 2" in advice("cpu", 2)
    assert "runtime.threads=1" in advice("cpu", 2)
    assert not advice("cpu", 1)
    assert not advice("cuda:0", 2)


def test_what_a_run_before_leaves_behind_is_not_other_work(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded(monkeypatch, 2.3)
    assert not advice("cpu", 2)
    loaded(monkeypatch, 5.8, cores=16)
    assert not advice("cpu", 16)


def test_where_the_system_does_not_tell_its_load_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> None:
        raise OSError("unobtainable")

    monkeypatch.setattr(os, "getloadavg", unknown, raising=False)
    assert not advice("cpu", 2)
