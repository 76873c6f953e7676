import subprocess

import pytest

from zoo.training import record


def git(folder, *arguments):
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def checkout(tmp_path):
    git(tmp_path, "init")
    (tmp_path / "train.py").write_text("1")
    git(tmp_path, "add", "train.py")
    git(tmp_path, "commit", "-m", "one")
    return tmp_path


def test_the_commit_is_that_of_the_packages_own_checkout(checkout, monkeypatch):
    monkeypatch.setattr(record, "ROOT", checkout)
    found = record.environment()
    assert len(found["commit"]) == 40
    (checkout / "a_text_of_mine.txt").write_text("no code")
    assert record.environment()["dirty"] is False
    (checkout / "train.py").write_text("2")
    assert record.environment()["dirty"] is True


def test_the_repository_around_an_installed_package_says_nothing(checkout, monkeypatch):
    (checkout / "site-packages").mkdir()
    monkeypatch.setattr(record, "ROOT", checkout / "site-packages")
    assert (record.environment()["commit"], record.environment()["dirty"]) == (None, None)


def test_without_git_both_are_unknown(tmp_path, monkeypatch):
    monkeypatch.setattr(record, "ROOT", tmp_path)
    monkeypatch.setenv("PATH", "")
    assert (record.environment()["commit"], record.environment()["dirty"]) == (None, None)


def test_other_code_is_told_by_commit_and_by_changes(checkout, monkeypatch):
    monkeypatch.setattr(record, "ROOT", checkout)
    before = record.environment()
    assert record.code_differs(before) == ""
    assert record.code_differs({}) == ""
    (checkout / "train.py").write_text("2")
    first = before["commit"][:7]
    assert record.code_differs(before) == f"commit {first} instead of commit {first} with changes"
    git(checkout, "commit", "-am", "two")
    second = record.environment()["commit"][:7]
    assert record.code_differs(before) == f"commit {first} instead of commit {second}"
    assert record.code_differs(record.environment() | {"resumed": [before]}).startswith(f"commit {first} instead")
    assert record.code_differs(record.environment() | {"dirty": True}).startswith(f"commit {second} with changes")


def test_other_code_of_an_installed_package_is_told_by_version(tmp_path, monkeypatch):
    monkeypatch.setattr(record, "ROOT", tmp_path)
    monkeypatch.setattr(record, "_version", lambda package: "1.0")
    before = record.environment()
    monkeypatch.setattr(record, "_version", lambda package: "2.0")
    assert record.code_differs(before) == "version 1.0 instead of version 2.0"
