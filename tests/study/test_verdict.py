"""Verdicts on studies whose truth is known."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.study.simulated import noisy, write_run, write_study
from zoo.study.evidence import Evidence, sort_out
from zoo.study.loading import load_runs
from zoo.study.report.findings import Findings, find
from zoo.study.verdict import judge


def findings(folder: Path) -> Findings:
    return find(sort_out(load_runs(folder)))


def listed(values: Mapping[str, Mapping[int, float | None]]) -> Callable[[str, Any, int], float | None]:
    return lambda variant, tuning, seed: values[variant][seed]


def test_planted_differences_are_found_and_their_absence_is(tmp_path: Path) -> None:
    effects = {"base": 0.0, "good": -0.05, "bad": 0.05, "same": 0.0}
    found = findings(write_study(tmp_path, noisy(effects), tuple(effects)))
    assert {row.variant: row.verdict for row in found.rows} == {
        "good": "better",
        "bad": "worse",
        "same": "within noise",
    }
    good = found.rows[0].difference
    assert good is not None
    assert good.low is not None
    assert good.high is not None
    assert good.low < -0.05 < good.high


def test_a_study_can_be_judged_at_another_length(tmp_path: Path) -> None:
    effects = {"base": 0.0, "other": 0.0, "short": 0.0}
    folder = write_study(tmp_path, noisy(effects), tuple(effects), metric="test loss at 128")
    longer = {"base": 0.2, "other": 0.1, "short": None}  # the order of rows as long as in training says nothing of it
    for job in json.loads((folder / "study.json").read_text())["jobs"]:
        file = tmp_path / f"run-{job['job']}" / "scores.json"
        scores = json.loads(file.read_text())
        more = longer[job["variant"]]
        last = {"loss": None, "why": "it ends at 64"} if more is None else {"loss": scores["test"]["loss"] + more}
        scores["lengths"][-1] = {"context": 128, **last}
        file.write_text(json.dumps(scores))
    other, short = findings(folder).rows
    assert other.verdict == "better"
    assert other.difference is not None
    assert other.difference.mean == pytest.approx(-0.1, abs=0.02)
    assert (short.verdict, short.why) == ("not comparable", "`short` cannot read 128 positions")


def test_pairs_are_seeds_and_not_rows(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    for seed, loss in {11: 1.50, 12: 1.40, 13: 1.60}.items():
        write_run(folder / f"a{seed}", loss, seed, overrides=["model/norm=a"])
    for seed, loss in {13: 1.62, 11: 1.52, 12: 1.43}.items():
        write_run(folder / f"z{20 - seed}", loss, seed, overrides=["model/norm=b"])
    (row,) = findings(folder).rows
    assert [round(theirs - mine, 10) for _, mine, theirs in row.pairs] == [-0.02, -0.03, -0.02]
    assert row.verdict == "not enough seeds"
    assert "3 of the 8" in row.why


def test_seven_seeds_claim_nothing_however_clear(tmp_path: Path) -> None:
    (row,) = findings(write_study(tmp_path, noisy({"base": 0.0, "other": -1.0}), seeds=range(7))).rows
    assert row.verdict == "not enough seeds"
    assert row.p == 2 / 128


def test_a_table_of_many_rows_says_how_many_seeds_it_needs(tmp_path: Path) -> None:
    names = ("base", *(f"v{i}" for i in range(7)))
    rows = findings(write_study(tmp_path, noisy(dict.fromkeys(names, 0.0)), names)).rows
    assert {row.verdict for row in rows} == {"not enough seeds"}
    assert "9 pairs that a claim needs in a table of 7 rows" in rows[0].why


def test_a_claim_that_stands_alone_falls_among_other_rows(tmp_path: Path) -> None:
    """Seven of eight pairs with one sign and a small eighth: p = 4/256, clear in one row, not in five."""
    base = dict.fromkeys(range(8), 2.0)
    good = {seed: 2.0 - 0.01 * (seed + 1) for seed in range(8)} | {0: 2.001}
    same = {seed: 2.0 + 0.01 * (-1) ** seed for seed in range(8)}
    alone = {"base": base, "good": good}
    (row,) = findings(write_study(tmp_path / "alone", listed(alone), tuple(alone))).rows
    assert (row.verdict, row.p, row.corrected) == ("better", 4 / 256, 4 / 256)
    many = alone | {f"v{place}": same for place in range(4)}
    row = findings(write_study(tmp_path / "many", listed(many), tuple(many))).rows[0]
    assert (row.verdict, row.p, row.corrected) == ("within noise", 4 / 256, 20 / 256)
    assert row.difference is not None
    assert row.difference.high is not None
    assert row.difference.high < 0  # the interval alone would claim it


def test_one_seed_has_no_spread_and_no_test(tmp_path: Path) -> None:
    (row,) = findings(write_study(tmp_path, noisy({"base": 0.0, "other": -1.0}), seeds=[3])).rows
    assert row.difference is not None
    assert (row.difference.sd, row.p, row.detectable, row.verdict) == (None, None, None, "not enough seeds")


def test_a_diverged_run_loses_its_pair_and_is_not_dropped(tmp_path: Path) -> None:
    other = {seed: (None if seed < 8 else 1.0) for seed in range(10)}
    values = {"base": {seed: 2.0 + seed / 100 for seed in range(10)}, "other": other}
    (row,) = findings(write_study(tmp_path / "a", listed(values), seeds=range(10))).rows
    assert (row.n, row.losses, row.test) == (10, 8, "sign")  # eight lost, two won
    assert row.verdict == "within noise"
    values["other"] = {seed: (None if seed < 9 else 2.5) for seed in range(10)}
    (row,) = findings(write_study(tmp_path / "b", listed(values), seeds=range(10))).rows
    assert (row.verdict, row.p) == ("worse", 2 / 1024)
    values = {"base": dict.fromkeys(range(8)), "other": dict.fromkeys(range(8))}
    (row,) = findings(write_study(tmp_path / "c", listed(values))).rows
    assert row.n == 0
    assert row.verdict == "nothing yet"


def test_who_survives_is_not_called_better(tmp_path: Path) -> None:
    """Three of ten diverge, the rest is lower by far: no claim, since the sign test counts all ten."""
    other = {seed: (None if seed < 3 else 1.0) for seed in range(10)}
    values = {"base": {seed: 2.0 + seed / 100 for seed in range(10)}, "other": other}
    (row,) = findings(write_study(tmp_path, listed(values), seeds=range(10))).rows
    assert row.difference is not None
    assert row.difference.high is not None
    assert row.difference.high < 0
    assert row.verdict == "within noise"


@pytest.mark.parametrize(
    ("extra", "reason"),
    [
        ({"changes": {"budget__steps": 200}}, "budget.steps 200 instead of 300"),
        ({"changes": {"data": "ffff"}}, "another corpus"),
        ({"changes": {"tokenizer": {"name": "chars"}}}, "tokenizer.name chars instead of bytes"),
        ({"machinery": {"dtype": "bfloat16"}}, "runtime.dtype bfloat16 instead of float32"),
        ({"machinery": {"compile": True}}, "runtime.compile True instead of False"),
    ],
)
def test_what_is_not_alike_is_refused_with_the_reason(tmp_path: Path, extra: dict[str, Any], reason: str) -> None:
    folder = write_study(tmp_path, noisy({"base": 0.0, "other": -1.0}), run={"other": extra})
    found = findings(folder)
    (row,) = found.rows
    assert row.verdict == "not comparable"
    assert reason in row.why
    assert len(found.evidence.refused) == 8


def test_a_test_of_other_targets_is_refused(tmp_path: Path) -> None:
    folder = write_study(tmp_path, noisy({"base": 0.0, "other": -1.0}), seeds=range(2))
    for number in (2, 3):
        file = tmp_path / f"run-{number}" / "scores.json"
        file.write_text(file.read_text().replace('"scored": 4000', '"scored": 600'))
    (row,) = findings(folder).rows
    assert "600 targets" in row.why


def test_a_seed_that_is_there_twice_counts_once(tmp_path: Path) -> None:
    for place, loss in {"a1": 1.0, "a2": 2.0}.items():
        write_run(tmp_path / place, loss, 0, overrides=["model/norm=a"])
    write_run(tmp_path / "b", 1.5, 0, overrides=["model/norm=b"])
    evidence = sort_out(load_runs(tmp_path))
    ((run, reason),) = evidence.refused
    assert "twice" in reason
    assert run.folder is not None
    assert run.folder.name == "a2"


def test_tuning_is_chosen_on_validation_and_judged_on_test(tmp_path: Path) -> None:
    """0.003 is best on validation for `other`, but 0.001 on test: the verdict takes 0.003."""
    best = {"base": 0.001, "other": 0.003}

    def loss(variant: str, tuning: Mapping[str, Any], seed: int) -> float:
        return 2.0 + 0.1 * (tuning["optimizer.lr"] != best[variant]) + seed / 1000

    folder = write_study(tmp_path, loss, seeds=range(3), tuning={"optimizer.lr": [0.0003, 0.001, 0.003]})
    for job in json.loads((folder / "study.json").read_text())["jobs"]:
        if job["variant"] == "other" and job["tuning"]["optimizer.lr"] == 0.001:
            file = tmp_path / f"run-{job['job']}" / "scores.json"
            scores = json.loads(file.read_text())
            scores["test"]["loss"] = 1.0
            file.write_text(json.dumps(scores))
    found = findings(folder)
    assert {name: one.best["optimizer.lr"] for name, one in found.evidence.choices.items()} == best
    assert found.evidence.choices["other"].edges == ("optimizer.lr",)
    assert found.evidence.choices["base"].edges == ()
    assert found.rows[0].mean == pytest.approx(2.001)
    assert {one.runs for one in found.evidence.choices.values()} == {9}


def test_a_diverged_tuning_value_is_never_the_best(tmp_path: Path) -> None:
    def loss(variant: str, tuning: Mapping[str, Any], seed: int) -> float | None:
        return None if tuning["lr"] == 2 and seed == 0 else 3.0 - tuning["lr"]

    found = findings(write_study(tmp_path / "a", loss, seeds=range(2), tuning={"lr": [1, 2]}))
    assert found.evidence.choices["base"].best == {"lr": 1}
    assert found.evidence.choices["base"].edges == ("lr",)
    found = findings(write_study(tmp_path / "b", lambda *about: None, seeds=range(1), tuning={"lr": [1, 2]}))
    assert found.evidence.choices["base"].edges == ()  # where none came to its end there is no best to lie at an edge


def test_a_tuning_value_that_failed_with_a_seed_is_not_chosen_on_the_others(tmp_path: Path) -> None:
    """As the study itself chose: it went on with 1, since 2 never came to its end with the first seed."""
    folder = write_study(
        tmp_path, lambda variant, tuning, seed: 3.0 - tuning["lr"], seeds=range(8), tuning={"lr": [1, 2]}
    )
    for job in json.loads((folder / "study.json").read_text())["jobs"]:
        note, run = folder / f"{job['job']}.json", tmp_path / f"run-{job['job']}"
        if job["tuning"]["lr"] == 2 and job["seed"] > 1:
            note.unlink()
        elif job["tuning"]["lr"] == 2 and job["seed"] == 0:
            note.write_text(json.dumps(json.loads(note.read_text()) | {"state": "killed"}))
            (run / "status.json").write_text(json.dumps({"state": "failed", "step": 3, "reason": "no memory"}))
    found = findings(folder)
    assert found.evidence.choices["base"].best == {"lr": 1}
    assert found.rows[0].n == 8
    assert found.evidence.choices["base"].runs == 4  # two seeds of two values, one of them in vain


def test_a_chain_compares_with_the_one_before_and_with_the_reference(tmp_path: Path) -> None:
    effects = {"a": 0.0, "b": -0.05, "c": -0.05, "d": -0.1}
    found = findings(write_study(tmp_path, noisy(effects, sd=0.002), tuple(effects), chain=True))
    assert [(row.variant, row.against, row.verdict) for row in found.rows] == [
        ("b", "a", "better"),
        ("c", "b", "within noise"),
        ("d", "c", "better"),
    ]
    assert [row.against for row in found.from_reference] == ["a", "a", "a"]


def test_a_metric_that_no_run_has_is_said(tmp_path: Path) -> None:
    folder = write_study(tmp_path, noisy({"base": 0.0, "other": 0.0}), seeds=range(2), metric="test loss at 512")
    (row,) = findings(folder).rows
    assert row.why == "no run of `other` has a test loss at 512; is 512 one of record.lengths?"
    evidence = sort_out(load_runs(folder))
    for run in evidence.runs:
        del run.scores["test"]  # type: ignore[attr-defined]
    (row,) = judge(evidence, [("other", "base")], "test loss")
    assert row.why == "no run of `other` has a test loss; does its corpus have that split?"


def test_more_accuracy_is_better(tmp_path: Path) -> None:
    folder = write_study(tmp_path, noisy({"base": 0.0, "other": 0.0}), metric="test accuracy")
    evidence: Evidence = sort_out(load_runs(folder))
    for run in evidence.accepted["other"].values():
        run.scores["test"]["accuracy"] = 0.4 + run.seed / 1000  # type: ignore[index]
    (row,) = judge(evidence, [("other", "base")])
    assert row.verdict == "better"
