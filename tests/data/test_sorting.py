from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zoo.data import scratch, sorting
from zoo.data.sorting import Sorter

ROWS = st.lists(st.tuples(st.integers(0, 4) | st.integers(0, 2**64 - 1), st.integers(0, 2**63 - 1)), max_size=80)


@pytest.fixture
def seven(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if memory held seven rows."""
    monkeypatch.setattr(sorting, "AT_ONCE", 7)


@given(ROWS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_rows_come_by_key_then_by_number_however_many_there_are(
    seven: None, tmp_path: Path, rows: list[tuple[int, int]]
) -> None:
    sorter = Sorter(tmp_path)
    for number, (key, size) in enumerate(rows):
        sorter.add(key, number, size)
    wanted = sorted((key, number, size) for number, (key, size) in enumerate(rows))
    for _ in range(2):
        assert [tuple(row) for chunk in sorter.chunks() for row in chunk.tolist()] == wanted
    assert len(sorter) == len(rows)


def test_no_more_rows_come_at_once_than_memory_holds(seven: None, tmp_path: Path) -> None:
    sorter = Sorter(tmp_path)
    for number in range(500):
        sorter.add(-number % 2**64, number, 1)
    assert max(len(chunk) for chunk in sorter.chunks()) <= 500 // 7 + 1  # one of each run


def test_files_that_are_needed_for_a_while_have_no_name(seven: None, tmp_path: Path) -> None:
    sorter = Sorter(tmp_path / "new")
    for number in range(20):
        sorter.add(number, number, 1)
    zeros = scratch.scratch_array(tmp_path / "new", "u1", 5)
    assert zeros.tolist() == [0] * 5
    assert list((tmp_path / "new").iterdir()) == []


def test_a_folder_that_takes_no_file_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert scratch.scratch_array(tmp_path / "file", "u1", 2).tolist() == [0, 0]
