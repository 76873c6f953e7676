"""The section of a report on translations: means of what was scored alike, and who is left out."""

from pathlib import Path
from typing import Any

import pytest

from tests.study.simulated import noisy, translation, write, write_study
from zoo.page import Section, Table
from zoo.study.report.page import built

NAMES = ("base", "other")


def study(root: Path, scores: dict[int, dict[str, Any]], seeds: int = 3) -> Section:
    """The section of a study of two variants of which those runs were scored: base is run 0 to `seeds` − 1."""
    bare = {name: {"rich": False} for name in NAMES}
    folder = write_study(root, noisy(dict.fromkeys(NAMES, 0.0)), NAMES, range(seeds), run=bare)
    for number, found in scores.items():
        write(root / f"run-{number}" / "translation.json", found)
    return next(one for one in built(folder).page.sections if one.key == "translation")


def rows(section: Section) -> list[list[Any]]:
    (table,) = (block for block in section.blocks if isinstance(block, Table))
    return [list(row) for row in table.rows]


def lines(section: Section) -> list[str]:
    return [block for block in section.blocks if isinstance(block, str)]


def test_nothing_is_shown_where_nothing_was_scored(tmp_path: Path) -> None:
    found = study(tmp_path, {})
    assert not found.blocks
    assert found.missing == "No run's translations were scored (`python evaluate.py run=<run> translation.pairs=500`)."


def test_means_and_spreads_are_those_of_the_seeds(tmp_path: Path) -> None:
    scores = {0: translation(0.25, 60.0), 1: translation(0.5, 70.0), 3: translation(0.75, 90.0)}
    found = study(tmp_path, scores)
    spread = ("0.250\u00a0…\u00a00.500", "60.00\u00a0…\u00a070.00")
    expected = [
        ["base", "validation", 500, 0.375, spread[0], 0.9, pytest.approx(0.475), 65.0, spread[1], 2],
        ["base", "test", 500, 0.375, spread[0], 0.9, pytest.approx(0.475), 65.0, spread[1], 2],
        ["other", "validation", 500, 0.75, None, 0.9, pytest.approx(0.85), 90.0, None, 1],
        ["other", "test", 500, 0.75, None, 0.9, pytest.approx(0.85), 90.0, None, 1],
    ]
    assert rows(found) == expected
    assert "Not scored: `base`, seeds 2; `other`, seeds 1, 2." in lines(found)
    assert "first 500 pairs of a split, in float32; chrF by sacrebleu, nc:6." in lines(found)[0]


def test_where_synonyms_are_not_known_there_is_no_column_of_them(tmp_path: Path) -> None:
    plain = translation(0.25, 60.0)
    for one in plain["splits"]:
        one["synonyms"] = None
    found = study(tmp_path, {0: plain, 1: plain, 3: plain})
    assert [row[:3] for row in rows(found)][::2] == [["base", "validation", 500], ["other", "validation", 500]]
    assert {len(row) for row in rows(found)} == {8}


OTHERWISE: dict[str, dict[str, Any]] = {
    "pairs": translation(0.9, 99.0, pairs=100),
    "splits": translation(0.9, 99.0) | {"splits": translation(0.9, 99.0)["splits"][1:]},
    "sacrebleu": translation(0.9, 99.0) | {"signature": "nc:5"},
    "dtype": translation(0.9, 99.0) | {"machinery": {"dtype": "bfloat16"}},
}


@pytest.mark.parametrize("what", OTHERWISE)
def test_runs_scored_otherwise_than_most_are_not_averaged_with_them(tmp_path: Path, what: str) -> None:
    alike = translation(0.25, 60.0)
    found = study(tmp_path, {0: OTHERWISE[what], 1: alike, 2: alike, 3: alike, 4: alike, 5: OTHERWISE[what]})
    assert [(row[0], row[3], row[-1]) for row in rows(found)[::2]] == [("base", 0.25, 2), ("other", 0.25, 2)]
    (said,) = (line for line in lines(found) if "not averaged" in line)
    assert said.endswith("not averaged: `base`, seeds 0; `other`, seeds 2.")
    assert not any("Not scored" in line for line in lines(found))


DAMAGED: dict[str, dict[str, Any]] = {
    "splits is no list with something in it": {"splits": {}},
    "splits[0].chrf is not a number": {"splits": [{"split": "test", "pairs": 3, "exact": 0.5, "chrf": None}]},
    "splits[0].synonyms.best is not a number": {
        "splits": [{"split": "test", "pairs": 3, "exact": 0.5, "chrf": 1.0, "synonyms": {"exact": 0.1}}]
    },
    "asked is not a whole number": {"asked": "many"},
}


@pytest.mark.parametrize("said", DAMAGED)
def test_damaged_scores_and_those_of_another_model_are_told_and_the_others_are_shown(tmp_path: Path, said: str) -> None:
    alike = translation(0.25, 60.0)
    marked = {"mismatch": {"missing": ["a", "b"], "left_over": [], "changed": False, "unchecked": True}}
    found = study(tmp_path, {0: alike | DAMAGED[said], 1: alike, 2: alike | marked, 3: alike, 4: alike, 5: alike})
    assert f"Not averaged of `base`, seed 0: its translation.json is damaged ({said}); score it again." in lines(found)
    assert any(line.startswith("Not averaged of `base`, seed 2: Not the model that was saved") for line in lines(found))
    assert [(row[0], row[-1]) for row in rows(found)[::2]] == [("base", 1), ("other", 3)]
