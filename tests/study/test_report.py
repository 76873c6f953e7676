"""A report says what its runs say: all of it, in every state that a study can be in."""

import csv
import io
import json
import os
import re
import shutil
import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import zoo
from tests.page.chromium import CHROMIUM, Browser
from tests.study.simulated import latency, noisy, write, write_run, write_study
from zoo.errors import UserError
from zoo.page import Figure, Table, markdown
from zoo.study.command import report_study
from zoo.study.loading import load_runs
from zoo.study.report.page import Report, built, results
from zoo.study.report.picture import picture

EFFECTS = {"transformer_2017": 0.0, "pre_norm": -0.06, "rmsnorm": -0.06}
PUBLISHED = [
    {"better": "pre_norm", "worse": "transformer_2017", "source": "Xiong 2020", "inversion": "a tie at 4 layers"},
    {"better": "transformer_2017", "worse": "pre_norm", "source": "nobody", "inversion": "a reason"},
    {"better": "rmsnorm", "worse": "pre_norm", "source": "Narang 2021", "inversion": None},
]


def tuned(variant: str, tuning: Mapping[str, Any], seed: int) -> float | None:
    """Best at 0.001; `rmsnorm` at the edge of the grid; one run diverges."""
    if variant == "transformer_2017" and tuning["optimizer.lr"] == 0.003 and seed == 1:
        return None
    off = tuning["optimizer.lr"] != (0.003 if variant == "rmsnorm" else 0.001)
    return noisy(EFFECTS)(variant, tuning, seed) + 0.1 * off


@pytest.fixture(scope="module")
def ladder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A chain of three variants with everything that a report can show."""
    run = {
        name: {
            "costs": {"parameters": 1000 + 50 * i, "flops_per_token": 2000.0 + 900 * i, "state_elements": 512 - 9 * i},
            "speed": 1 + 0.5 * i,
        }
        for i, name in enumerate(EFFECTS)
    }
    return write_study(
        tmp_path_factory.mktemp("ladder"),
        tuned,
        tuple(EFFECTS),
        tuning={"optimizer.lr": [0.0003, 0.001, 0.003]},
        run=run,
        chain=True,
        published=PUBLISHED,
        question="Which changes help?",
        command="python train.py study=ladder",
        expected="pre-norm",
        source="none",
    )


@pytest.fixture(scope="module")
def report(ladder: Path) -> Report:
    return built(ladder)


def section(report: Report, key: str) -> str:
    """The Markdown of one section."""
    (found,) = (one for one in report.page.sections if one.key == key)
    text = markdown(type(report.page)("", "", [found]))
    return text.partition("\n## ")[2]


def test_the_first_screen_is_question_answer_and_verdicts(report: Report) -> None:
    text = markdown(report.page)
    assert text.startswith(
        "# Which changes help?\n\n**Of 2 changes, each on top of those before it, 1 is better: `pre_norm`"
    )
    assert text.index("## Verdicts") < text.index("## Ladder")
    assert "72 jobs, 8 seeds: 71 done, 1 diverged." in text
    assert "Expected: pre-norm (source: none)" in text


def test_every_section_shows_its_numbers(report: Report) -> None:
    assert [one.key for one in report.page.sections if one.missing] == []
    assert "`pre_norm` better than `transformer_2017` | agrees" in section(report, "literature")
    assert "disagrees" in section(report, "literature")
    assert "known at small scale: a reason" in section(report, "literature")
    assert "undecided at this power" in section(report, "literature")
    assert "The winner changes with the budget" in section(report, "budgets")
    assert "at the edge of the grid for `rmsnorm`" in section(report, "tuning")
    assert "tuned with 24 runs" in section(report, "tuning")
    assert "| rmsnorm | model/norm=rmsnorm | pre_norm | model.norm.name | pre_norm | rmsnorm |" in section(
        report, "changes"
    )
    assert "diverged" in section(report, "failures")
    assert "python train.py study=ladder" in section(report, "reproduce")
    assert "optimizer.lr=0.003 seed=0,1,2,3,4,5,6,7" in section(report, "reproduce")
    assert "| machine.processor | a processor |" in section(report, "environment")
    assert "+10.0" in section(report, "matching")
    assert (
        "Recall, 8–15 words back: `transformer_2017` is right most often, in 60.0%, within noise of `pre_norm`, where"
        " chance gives 12.5%" in section(report, "distances")
    )


def test_every_figure_has_a_finding_units_and_its_numbers(report: Report) -> None:
    figures = 0
    for one in report.page.sections:
        has_table = any(isinstance(block, Table) for block in one.blocks)
        for block in one.blocks:
            if isinstance(block, Figure):
                figures += 1
                assert block.table is not None or has_table
                assert re.search(r"\d|`|differ|ahead|best", block.title), block.title
                assert block.x.title
                assert block.y.title or block.y.categories
    assert figures >= 14


def test_a_report_is_built_again_to_the_byte_wherever_its_runs_lie(ladder: Path, tmp_path: Path) -> None:
    first = [file.read_bytes() for file in built(ladder).write(tmp_path)]
    moved = tmp_path / "moved"
    shutil.copytree(ladder.parents[1], moved)
    there = moved / "studies" / "simulated"
    assert [file.read_bytes() for file in built(there).write(there)] == first
    file = moved / "run-8" / "scores.json"  # the first run of the chosen tuning of the reference
    file.write_text(re.sub(r'"loss": 2\.', '"loss": 3.', file.read_text()))
    assert [file.read_bytes() for file in built(there).write(there)] != first


def test_the_csv_has_a_line_for_each_run_and_says_which_count(report: Report) -> None:
    rows = list(csv.DictReader(io.StringIO(results(report.findings))))
    assert len(rows) == 72
    assert sum(row["compared"] == "True" for row in rows) == 24
    assert {row["state"] for row in rows} == {"done", "diverged"}
    assert float(rows[8]["test_loss"]) == pytest.approx(tuned("transformer_2017", {"optimizer.lr": 0.001}, 0))


def test_tables_for_a_notebook_are_flat(ladder: Path) -> None:
    tables = zoo.study.load(ladder, points=5)
    assert len(tables.runs) == 72
    assert {row["optimizer.lr"] for row in tables.runs} == {0.0003, 0.001, 0.003}
    assert not [
        value
        for row in (*tables.runs, *tables.scores, *tables.metrics)
        for value in row.values()
        if isinstance(value, dict)
    ]
    assert {row["kind"] for row in tables.scores} == {"total", "skill", "distance", "length"}
    counted = [row for row in tables.metrics if row["job"] == 0 and row["split"] == "train"]
    assert len(counted) <= 11
    assert counted[-1]["step"] == 300


def test_a_variant_is_compared_with_the_one_that_it_names(tmp_path: Path) -> None:
    effects = {"base": 0.0, "other": -0.1, "more": -0.2}
    folder = write_study(tmp_path, noisy(effects), tuple(effects))
    variants = json.loads((folder / "study.json").read_text())["variants"]
    _edit(folder, variants=[*variants[:2], {**variants[2], "against": "other"}])
    report = built(folder)
    assert [(row.variant, row.against, row.verdict) for row in report.findings.rows] == [
        ("other", "base", "better"),
        ("more", "other", "better"),
    ]
    assert "Of 2 comparisons, 2 are better: `other` than `base` (" in report.page.answer
    assert "`more` than `other` (" in report.page.answer


def test_the_picture_of_the_verdicts_is_drawn_to_scale(report: Report) -> None:
    root = ElementTree.fromstring(picture(report.findings))
    marks = [one.attrib for one in root if one.tag.endswith("circle")]
    assert [one["class"] for one in marks] == ["good", "flat"]
    labels = {one.text: float(one.attrib["x"]) for one in root if one.tag.endswith("text") and one.text}
    ticks = [(float(text.replace("−", "-")), at) for text, at in labels.items() if re.fullmatch(r"[−+]?[0-9.]+", text)]
    (left, x), (right, y) = ticks[0], ticks[-1]
    for row, mark in zip(report.findings.rows, marks, strict=True):
        assert row.difference is not None
        assert float(mark["cx"]) == pytest.approx(x + (row.difference.mean - left) / (right - left) * (y - x), abs=0.2)


def test_the_grade_of_a_published_order_claims_no_more_than_its_verdict(tmp_path: Path) -> None:
    names = ("base", "a", "b", "c", "d", "e")

    def loss(variant: str, tuning: Mapping[str, Any], seed: int) -> float:
        own = noisy(dict.fromkeys(names, 0.0), shared=0.0)(variant, tuning, seed)
        return own if variant != "a" else noisy({"base": 0.0}, shared=0.0)("base", tuning, seed) - 0.01 * (seed - 0.5)

    order = [{"better": "a", "worse": "base", "source": "somebody", "inversion": None}]
    report = built(write_study(tmp_path, loss, names, published=order))
    row = report.findings.rows[0]  # one seed is on the other side, and 5 rows are corrected for
    assert (row.verdict, row.p) == ("within noise", 6 / 256)
    assert "Of 1 published orders: 1 undecided at this power" in section(report, "literature")


def test_gradients_are_shown_by_layer_and_kind(report: Report) -> None:
    text = section(report, "gradients")  # 0.5 in the first layer, 0.25 in the second
    assert "At the start of training the gradient of the last ffn is 0.50 times that of the first" in text
    assert "| transformer_2017 | 0.5 | 0.25 |" in text
    assert "In training the gradient of the last mixer moves most with" in text


def test_a_study_that_runs_says_what_is_missing(tmp_path: Path) -> None:
    folder = write_study(tmp_path, noisy({"base": 0.0, "other": 0.0}), seeds=range(3), run={"base": {"rich": False}})
    for number in (3, 4, 5):
        shutil.rmtree(tmp_path / f"run-{number}")
        (folder / f"{number}.json").unlink()
    (folder / "4.json").write_text(json.dumps({"job": 4, "state": "running", "folder": None}))
    report = built(folder)
    assert report.page.answer.startswith("No answer yet")
    assert "6 jobs, 3 seeds: 3 done, 2 not started, 1 running." in report.page.facts
    missing = {one.key: one.missing for one in report.page.sections if one.missing}
    assert {
        "skills",
        "distances",
        "lengths",
        "gradients",
        "budgets",
        "tuning",
        "literature",
        "pareto",
    } <= missing.keys()
    assert "no run of `other` is done" in section(report, "verdicts")


def test_a_variant_called_none_is_told_as_a_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_study(tmp_path, noisy({"none": 0.0, "biases": -0.5}), ("none", "biases"), range(8))
    report_study([f"study={folder}"])
    assert "'biases' is better than 'none' on test loss" in capsys.readouterr().out
    assert "`biases` is better than `none` on test loss" in (folder / "report.md").read_text()
    assert "to &#x27;none&#x27;, 95 % interval" in (folder / "verdicts.svg").read_text()
    for note in folder.glob("[0-7].json"):  # those of the reference
        note.unlink()
    report_study([f"study={folder}"])
    assert "nothing yet: no run of 'none' is done" in capsys.readouterr().out


def test_what_a_killed_process_left_running_is_told_as_interrupted(tmp_path: Path) -> None:
    """In the note of a job without a run, in note and status, in the status alone; not while one of both goes on."""
    folder = write_study(tmp_path, noisy({"base": 0.0, "other": 0.0}), seeds=range(2))
    over = subprocess.Popen(["true"])
    over.wait()
    here, dead = {"pid": os.getpid(), "host": socket.gethostname()}, {"pid": over.pid, "host": socket.gethostname()}
    written = [(dead, None), (dead, dead), (dead, here), (dead | {"host": "elsewhere"}, dead)]
    for job, (note, status) in enumerate(written):
        file, run = folder / f"{job}.json", tmp_path / f"run-{job}"
        file.write_text(json.dumps(json.loads(file.read_text()) | {"state": "running", **note}))
        if status is None:
            (run / "record.json").unlink()
        (run / "status.json").write_text(json.dumps({"state": "running", "step": 3, **(status or {})}))
    runs = load_runs(folder).runs
    assert [run.state for run in runs] == ["interrupted", "interrupted", "running", "running"]
    assert "the same command goes on with it" in runs[0].message
    shutil.rmtree(folder)
    assert [run.state for run in load_runs(tmp_path).runs] == ["interrupted", "running", "interrupted"]


def test_generation_is_drawn_per_variant_where_it_was_measured_alike(tmp_path: Path) -> None:
    names = ("base", "other", "later")
    bare = {name: {"rich": False} for name in names}
    folder = write_study(tmp_path, noisy(dict.fromkeys(names, 0.0)), names, range(2), run=bare)
    assert "measured" in next(one.missing for one in built(folder).page.sections if one.key == "generation")
    for number, threads, seconds in ((1, 1, 0.002), (2, 1, 0.004), (4, 2, 0.008)):
        write(tmp_path / f"run-{number}" / "latency.json", latency(seconds, threads))
    report = built(folder)
    said = section(report, "generation")
    assert "not drawn: later" in said
    first, each, through, held = (
        block
        for block in next(one for one in report.page.sections if one.key == "generation").blocks
        if isinstance(block, Figure)
    )
    assert [row[:3] for row in first.table.rows] == [
        ["base", 8, 16.0],
        ["base", 16, 32.0],
        ["other", 8, 32.0],
        ["other", 16, 64.0],
    ]
    assert [row[:3] for row in each.table.rows] == [["base", 18, 2.0], ["other", 18, 4.0]]
    assert [row[:3] for row in through.table.rows] == [
        ["base", 1, 500.0],
        ["base", 4, 2000.0],
        ["other", 1, 250.0],
        ["other", 4, 1000.0],
    ]
    assert held.table.rows[1] == ["base", 4, 4 / 1024, 4 / 1024, 16 / 1024]
    assert each.title == "A token takes least time with `base`: 2.00 ms after a prompt of 16, at batch 4"


DAMAGED: dict[str, Any] = {
    "measurements is no list with something in it": {"measurements": {"a": 1}},
    "measurements[0] is no mapping": {"measurements": [3]},
    "measurements[0].prompt is not a whole number": {"measurements": [{"batch": 1, "prompt": "8"}]},
    "plan is no mapping": {"plan": None},
    "plan.compiled is not true or false": {"plan": {"new_tokens": 4, "repetitions": 3, "compiled": "no"}},
    "machinery.threads is not a whole number": {"machinery": {"threads": -1, "device": "cpu", "dtype": "float32"}},
    "machine.processor is not text": {"machine": {}},
}


@pytest.mark.parametrize("said", DAMAGED)
def test_a_damaged_measurement_is_told_and_the_others_are_drawn(tmp_path: Path, said: str) -> None:
    names = ("base", "other")
    bare = {name: {"rich": False} for name in names}
    folder = write_study(tmp_path, noisy(dict.fromkeys(names, 0.0)), names, range(1), run=bare)
    write(tmp_path / "run-0" / "latency.json", latency(0.002) | DAMAGED[said])
    write(tmp_path / "run-1" / "latency.json", latency(0.002))
    report = built(folder)
    found = next(one for one in report.page.sections if one.key == "generation")
    told = f"Not drawn of `base`, seed 0: its latency.json is damaged ({said}); measure it again."
    assert told in found.blocks
    assert any(isinstance(block, Figure) for block in found.blocks)
    assert report.findings.evidence.done("base")
    short = latency(0.002)
    write(tmp_path / "run-0" / "latency.json", short | {"measurements": short["measurements"][:1]})
    assert "not drawn: other" in section(built(folder), "generation")


def test_a_run_that_cannot_be_read_is_told_and_the_rest_is_reported(tmp_path: Path) -> None:
    folder = write_study(tmp_path, noisy({"base": 0.0, "other": 0.0}), seeds=range(3))
    (tmp_path / "run-4" / "metrics.jsonl").write_text("{\n")
    report = built(folder)
    assert "unreadable" in section(report, "failures")
    assert report.findings.rows[0].n == 2


def test_a_run_whose_folder_is_gone_is_missing_and_says_how_it_comes_back(tmp_path: Path) -> None:
    losses = noisy({"base": 0.0, "other": 0.0})
    folder = write_study(
        tmp_path, lambda *job: None if job[0] == "other" and job[2] == 2 else losses(*job), seeds=range(3)
    )
    shutil.rmtree(tmp_path / "run-4")
    (tmp_path / "run-5").rename(tmp_path / "elsewhere")  # it had diverged
    (tmp_path / "run-1" / "record.json").unlink()
    note = folder / "3.json"
    note.write_text(json.dumps(json.loads(note.read_text()) | {"folder": None}))
    report = built(folder)
    said = section(report, "failures")
    for job in (4, 5):
        assert f"the folder of job {job} is gone; the same command makes it again" in said
    assert "the note of job 3 names no run folder" in said
    assert "record.json is missing" in said
    assert "another corpus" not in said
    assert "2 done, 2 gone, 2 unreadable." in report.page.facts[0]
    assert not report.findings.evidence.refused
    assert "no run of `other` is done (2 gone, 1 unreadable)" in section(report, "verdicts")


WRONG: dict[str, Any] = {
    "science.tokenizer is no mapping": {"science": {"tokenizer": 3}},
    "machinery is no mapping": {"machinery": [1]},
    "costs is no mapping": {"costs": 5},
    "data is no mapping": {"data": [1]},
    "overrides is no list of texts": {"overrides": [1]},
}


@pytest.mark.parametrize("said", WRONG)
def test_a_record_of_wrong_types_is_told_in_a_study_and_in_a_plain_folder(tmp_path: Path, said: str) -> None:
    folder = write_study(tmp_path, noisy({"base": 0.0, "other": 0.0}), seeds=range(3))
    file = tmp_path / "run-4" / "record.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | WRONG[said]))
    report = built(folder)
    assert f"record.json is damaged: {said}" in section(report, "failures")
    assert report.findings.rows[0].n == 2
    (tmp_path / "run-2" / "record.json").unlink()
    plain = built(tmp_path)
    assert plain.page.facts[0] == "6 jobs, 3 seeds: 4 done, 2 unreadable."
    told = section(plain, "failures")
    assert "No score: 2 of 6 jobs" in told
    assert f"record.json is damaged: {said}" in told
    assert "run-2/record.json is missing" in told
    for rows in ([*csv.DictReader(io.StringIO(results(plain.findings)))], zoo.study.load(tmp_path).runs):
        (lost,) = (row for row in rows if row["folder"] == "run-4")
        assert said in lost["message"]
        assert [row["state"] for row in rows].count("done") == 4
    for file in tmp_path.glob("run-*/record.json"):
        file.write_text("{")
    with pytest.raises(UserError, match=r"none of the 6 runs in .* can be read: .*record\.json is missing or damaged"):
        built(tmp_path)


@pytest.mark.parametrize("note", ["{", '{"state": 3}', '{"state": "done", "folder": 3}', '{"match": [1]}'])
def test_a_damaged_note_is_told_and_the_rest_is_reported(tmp_path: Path, note: str) -> None:
    folder = write_study(tmp_path, noisy({"base": 0.0, "other": 0.0}), seeds=range(3))
    (folder / "4.json").write_text(note)
    report = built(folder)
    assert "5 done, 1 unreadable." in report.page.facts[0]
    assert "4.json is" in section(report, "failures")
    assert "start the study again" in section(report, "failures")
    assert report.findings.rows[0].n == 2


@pytest.mark.parametrize("changed", [{"(code)": "8a146bab"}, {"(version)": 2}])
@pytest.mark.parametrize("run", [0, 4])
def test_a_run_whose_options_are_other_code_is_not_compared(tmp_path: Path, changed: dict[str, Any], run: int) -> None:
    """A plugin was edited, or a part of the zoo gives other numbers now, and not all runs were made again."""
    folder = write_study(tmp_path, noisy({"base": 0.0, "other": 0.0}), seeds=range(3))
    assert not built(folder).findings.evidence.refused
    file = tmp_path / f"run-{run}" / "record.json"
    record = json.loads(file.read_text())
    record["science"]["model"]["norm"] |= changed
    write(file, record)
    report = built(folder)
    name = record["science"]["model"]["norm"]["name"]
    assert f"model.norm '{name}': its code is another one than that of most runs" in section(report, "failures")
    assert report.findings.rows[0].n == 2


@pytest.mark.parametrize("edited", [False, True])
def test_an_option_is_the_same_code_wherever_it_stands(tmp_path: Path, edited: bool) -> None:
    """A variant may have in some layers what the reference has in all."""
    folder = write_study(tmp_path, noisy({"base": 0.0, "other": 0.0}), seeds=range(3))
    file = tmp_path / "run-4" / "record.json"
    record = json.loads(file.read_text())
    norm = record["science"]["model"]["norm"]
    record["science"]["model"]["norm"] = {
        "layers": ["first", "then"],
        "first": norm | ({"(code)": "8a146bab"} if edited else {}),
        "then": {"name": "of its own"},
    }
    write(file, record)
    refused = [reason for _, reason in built(folder).findings.evidence.refused]
    told = f"model.norm.first '{norm['name']}': its code is another one than that of most runs"
    assert refused == ([told] if edited else [])


def test_a_run_that_lost_lines_or_was_scored_half_trained_is_told(tmp_path: Path) -> None:
    folder = write_study(tmp_path, noisy({"base": 0.0, "other": 0.0}), seeds=range(3))
    for run, lost in ((4, 1), (5, 0)):
        file = tmp_path / f"run-{run}" / "status.json"
        lines = (file.parent / "metrics.jsonl").read_text().count("\n") + lost
        write(file, json.loads(file.read_text()) | {"lines": lines})
    write(tmp_path / "run-0" / "latency.json", latency(0.002) | {"step": 150, "last": False})
    report = built(folder)
    assert f"it has {lines} of the {lines + 1} lines" in section(report, "failures")
    assert report.findings.rows[0].n == 2
    assert "Not drawn of `base`, seed 0: Not the last weights of the run: these are of step 150." in section(
        report, "generation"
    )


def test_a_state_that_no_run_has_is_told(tmp_path: Path) -> None:
    folder = write_study(tmp_path, noisy({"base": 0.0, "other": 0.0}), seeds=range(3))
    write(tmp_path / "run-4" / "status.json", {"state": 3})
    assert "it has no state" in section(built(folder), "failures")


def test_plain_folders_of_runs_are_reported(tmp_path: Path) -> None:
    for seed in range(2):
        for norm in ("a", "b"):
            words = ["data=toy", f"model/norm={norm}", "out=somewhere", "runtime.threads=1"]
            write_run(tmp_path / f"{norm}{seed}", 2.0, seed, overrides=words)
    report = built(tmp_path)
    assert report.findings.question.names == ("model/norm=a", "model/norm=b")
    assert report.page.answer.startswith("No claim is made: there are 2 of the 8 pairs")


@pytest.mark.parametrize(
    ("metric", "effects", "said"),
    [
        ("test loss", (0.1, 0.2), "None of 2 variants has a lower test loss than `base`; the smallest increase is"),
        ("test loss", (0.1, -0.2), "The most favourable difference of test loss is that of `b` to `base` (−0.2000)."),
        ("test loss", (0.1,), "The test loss of `a` is not lower than that of `base` (+0.1000)."),
        (
            "test accuracy",
            (0.1, 0.2),
            "None of 2 variants has a higher test accuracy than `base`; the smallest decrease",
        ),
    ],
)
def test_only_what_is_better_is_called_favourable(
    tmp_path: Path, metric: str, effects: tuple[float, ...], said: str
) -> None:
    every = dict(zip(("base", "a", "b"), (0.0, *effects), strict=False))
    report = built(write_study(tmp_path, lambda name, _, __: 2.0 + every[name], tuple(every), range(1), metric=metric))
    assert report.page.answer.startswith("No claim is made: there is 1 of the 8 pairs")
    assert said in report.page.answer


def test_the_answer_says_which_variants_diverged(tmp_path: Path) -> None:
    loss = noisy({"base": 0.0, "wild": 0.0, "half": 0.05}, sd=0.0, shared=0.0)

    def some(variant: str, tuning: Any, seed: int) -> float | None:
        return None if variant == "wild" or (variant == "half" and seed < 3) else loss(variant, tuning, seed)

    said = built(write_study(tmp_path, some, ("base", "wild", "half"))).page.answer
    assert "`wild` (diverged on 8 of 8 seeds), `half` (+0.0500, diverged on 3 of 8 seeds)" in said


def test_one_seed_says_nothing_of_how_far_seeds_differ(tmp_path: Path) -> None:
    effects = {"base": 0.0, "other": 0.25}
    report = built(write_study(tmp_path / "one", noisy(effects, 0.0), tuple(effects), range(1)))
    alone = section(report, "points")
    assert "equal seconds; without two seeds of both, noise is not known" in section(report, "budgets")
    assert "One seed of each variant: how far seeds differ is not known; the variants differ by up to 0.2500" in alone
    assert "| sd |" not in alone  # a column with nothing in it
    two = section(built(write_study(tmp_path / "two", noisy(effects, 0.0), tuple(effects), range(2))), "points")
    assert re.search(r"Seeds of one variant differ by up to 0\.0[1-9]\d\d, the means of the variants by 0\.2500", two)
    assert "| sd |" in two


def test_what_all_rows_lack_is_said_once(tmp_path: Path) -> None:
    names = ("base", *(f"v{i}" for i in range(9)))
    report = built(write_study(tmp_path, noisy(dict.fromkeys(names, 0.0)), names, range(1)))
    text = section(report, "verdicts")
    assert text.count("not enough seeds (1 of 9)") == 9
    assert text.count("a claim needs 9 pairs in a table of 9 rows") == 1
    assert "remark" not in text
    assert "10 jobs, 1 seed: 10 done." in report.page.facts


@pytest.mark.parametrize(("known", "effect"), [(True, -0.6), (False, -0.7)])
def test_a_score_below_what_can_be_reached_is_told(tmp_path: Path, known: bool, effect: float) -> None:
    """The floor is 1.5; where it is not known, 0.5 bits per byte, which are 1.39 here."""
    effects = {"base": 0.0, "peeks": effect}
    folder = write_study(tmp_path, noisy(effects, shared=0.0), tuple(effects), range(2))
    for file in () if known else [*tmp_path.rglob("scores.json"), *tmp_path.rglob("metrics.jsonl")]:
        file.write_text(file.read_text().replace('"floor"', '"another"'))
    assert built(folder).page.facts[1].startswith("Too good to be true: `peeks`, below")


def test_variants_that_end_alike_are_not_told_apart(tmp_path: Path) -> None:
    report = built(write_study(tmp_path, lambda variant, tuning, seed: 2.0, ("base", "other"), range(2)))
    assert "From 32 to 128 tokens the test loss above the floor of each variant changes by +0.096" in section(
        report, "lengths"
    )
    assert "All end at a" in section(report, "curves")


def test_how_far_above_the_floor_is_said_in_total_and_by_skill_beside_chance(tmp_path: Path) -> None:
    folder = write_study(tmp_path, lambda variant, _, seed: 2.0 + seed / 8 + (variant == "other"), seeds=range(2))
    rows = [line.split(" | ") for line in section(built(folder), "skills").splitlines() if line.startswith("| ")]
    total = [row[3:5] for row in rows if row[0] == "| in total"]
    assert total == [["0.562", "0.500 … 0.625"], ["1.562", "1.500 … 1.625"]]  # of a floor of 1.5
    recall = [row[5:7] for row in rows if row[0] == "| recall"]
    assert recall == [["0.500", "0.125"]] * 2


def test_a_variant_without_words_at_a_distance_is_not_the_nearest_there(tmp_path: Path) -> None:
    folder = write_study(tmp_path, noisy({"base": 0.0, "other": 0.1}), ("base", "other"), range(2))
    for run in ("run-0", "run-1"):  # those of base
        scores = json.loads((tmp_path / run / "scores.json").read_text())
        del scores["test"]["skills"]["recall"]["by_distance"]["8–15"]
        write(tmp_path / run / "scores.json", scores)
    assert "8–15 words back: nearest to the floor is `other`" in section(built(folder), "distances")


@pytest.mark.parametrize(
    ("few", "at"),
    [
        (
            {"words": (11, 70), "determined_words": (11, 70), "tokens": (55, 350)},
            ("4–7", "4–7"),
        ),  # a word is five bytes
        ({"words": (90, 90), "determined_words": (11, 50), "tokens": (450, 450)}, ("8–15", "4–7")),
        ({"words": (2, 9), "determined_words": (9, 9), "tokens": (55, 70)}, None),
        ({"tokens": (2, 70)}, ("4–7", "4–7")),  # as runs of before have it
        ({"tokens": (55, 70)}, ("8–15", "8–15")),
    ],
    ids=["few words", "few determined", "few anywhere", "older, few", "older, enough"],
)
def test_no_title_is_made_of_a_distance_with_few_words(
    tmp_path: Path, few: dict[str, tuple[int, int]], at: tuple[str, str] | None
) -> None:
    folder = write_study(tmp_path, noisy({"base": 0.0, "other": 0.1}), ("base", "other"), range(2))
    assert "Recall, 8–15 words back" in section(built(folder), "distances")
    for file in tmp_path.rglob("scores.json"):
        scores = json.loads(file.read_text())
        recall = scores["test"]["skills"]["recall"]
        for counted, (far, near) in few.items():
            recall[f"{counted}_by_distance"] = {one: far if one == "8–15" else near for one in recall["by_distance"]}
        write(file, scores)
    said = section(built(folder), "distances")
    if at is None:
        assert said.count("Recall, by words back: each distance on fewer than 50 words, too few to tell") == 2
        assert not re.search("Recall.*(nearest|most often)", said)
        return
    assert f"Recall, {at[0]} words back: nearest to the floor is" in said
    assert f"Recall, {at[1]} words back: `base` is right most often" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"words": (200, 200, 49)}, "differ most in agreement: 0.300 nats, and `base` is nearest to the floor"),
        ({"words": (200, 200, 50)}, "differ most in recall: 1.300 nats, and `base` is nearest to the floor"),
        ({"words": (200, 9, 9)}, "differ most in grammar: 0.100 nats, and `base` is nearest to the floor"),
        ({"words": (49, 9, 0), "tokens": (90, 90, 90)}, "Loss above the floor: each skill on fewer than 50 words"),
        ({"tokens": (200, 200, 49)}, "differ most in agreement: 0.300 nats"),  # as runs of before have it
    ],
)
def test_no_title_is_made_of_a_skill_with_few_words(
    tmp_path: Path, words: dict[str, tuple[int, int, int]], said: str
) -> None:
    """One variant is 0.1, 0.3 and 1.3 nats further from the floor than the other, skill by skill."""
    folder = write_study(tmp_path, lambda *job: 2.0, seeds=range(2))
    for number in range(4):
        file = tmp_path / f"run-{number}" / "scores.json"
        scores = json.loads(file.read_text())
        found = scores["test"]["skills"]
        for place, (skill, further) in enumerate({"grammar": 0.1, "agreement": 0.3, "recall": 1.3}.items()):
            found[skill]["loss"] = 2.0 + further * (number >= 2)
            found[skill] |= {key: counts[place] for key, counts in words.items()}
        write(file, scores)
    report = built(folder)
    told = section(report, "skills")
    assert said in told.partition("|")[0]
    column = [row.split(" | ")[2] for row in told.splitlines() if row.startswith("| agreement")]
    assert column == [str(words["words"][1]) if "words" in words else "—"] * 2


def test_held_out_text_that_stands_in_train_is_told(tmp_path: Path) -> None:
    folder = write_study(tmp_path, noisy({"base": 0.0, "other": 0.0}), ("base", "other"), range(2))
    assert "Held-out" not in " ".join(built(folder).page.facts)
    overlap = {
        "validation": {"lines": 50, "in_train": 0, "share": 0.0},
        "test": {"lines": 2000, "in_train": 22, "share": 0.011},
    }
    for file in tmp_path.rglob("record.json"):
        file.write_text(json.dumps(json.loads(file.read_text()) | {"data": {"data": "kjv", "overlap": overlap}}))
    told = "22 of 2,000 test lines (1.10 %) stand in train (data=kjv)"
    assert f"Held-out text is not all new: {told}. There a score may be memory." in built(folder).page.facts


@pytest.mark.parametrize(
    ("effect", "scored", "says"),
    [
        (-0.06, 4000, ""),
        (-0.06, 1000, ""),
        (
            -0.06,
            38,
            "on 38 scored targets models that are alike differ, in the mean over many seeds, by up to about 0.081 nats",
        ),
        (-0.06, 1, "on 1 scored target models"),
        (0.0, 999, "in the mean over many seeds, by up to about 0.016 nats per"),
        (0.0, 1000, ""),
        (0.007, 4000, "0.0079 nats per token; the difference that is claimed of `other` is smaller. More text"),
        (0.009, 4000, ""),
    ],
)
def test_a_test_split_that_is_too_small_to_compare_by_is_told(
    tmp_path: Path, effect: float, scored: int, says: str
) -> None:
    """38 targets are the tenth of a text of some 400 characters."""
    run = {name: {"scored": scored} for name in ("base", "other")}
    told = built(write_study(tmp_path, noisy({"base": 0.0, "other": effect}, sd=0.0005), run=run)).page.facts
    found = [fact for fact in told if "too small to compare by" in fact]
    assert [says in fact for fact in found] == [True] * bool(says), found


def test_one_variant_is_no_comparison(tmp_path: Path) -> None:
    write_run(tmp_path / "a", 2.0, 0)
    report = built(tmp_path)
    assert "nothing to compare" in report.page.answer
    report.write(tmp_path)


@pytest.mark.parametrize(
    ("break_it", "sentence"),
    [
        (lambda folder: (folder / "study.json").write_text("{"), "study.json is damaged"),
        (lambda folder: _edit(folder, command="train.py '"), "its command cannot be read as one (No"),
        (lambda folder: (folder / "study.json").write_text("[]"), "holds no object"),
        (lambda folder: (folder / "study.json").write_text('{"format": 9}'), "has format 9"),
        (lambda folder: _edit(folder, variants=[{"name": 3}]), "name is 3"),
        (lambda folder: _edit(folder, reference="gone"), "'gone' is none of its variants"),
        (lambda folder: _edit(folder, metric="fun"), "metric='fun' is no metric"),
        (lambda folder: _edit(folder, jobs=[]), "lists no jobs"),
        (lambda folder: (folder / "study.json").unlink(), "is no study"),
        (shutil.rmtree, "no folder"),
    ],
)
def test_what_is_no_study_is_refused_with_a_sentence(tmp_path: Path, break_it: Any, sentence: str) -> None:
    folder = write_study(tmp_path, noisy({"base": 0.0, "other": 0.0}), seeds=range(1))
    break_it(folder)
    with pytest.raises(UserError, match=re.escape(sentence)):
        built(folder)


def _edit(folder: Path, **changes: Any) -> None:
    file = folder / "study.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))


@pytest.mark.skipif(not CHROMIUM.exists(), reason="there is no /usr/bin/chromium here")
def test_a_browser_shows_the_report_at_both_widths(report: Report, tmp_path: Path) -> None:
    path = report.write(tmp_path)[0]
    with Browser() as browser:
        for width, dark in ((400, False), (1600, True)):
            browser.open(path, width=width, dark=dark)
            charts = browser.ask("document.querySelectorAll('.chart').length")
            assert charts >= 14
            assert (
                browser.ask("[...document.querySelectorAll('.chart')].filter(c => c.querySelector('.trace')).length")
                == charts
            )
            assert browser.ask("document.documentElement.scrollWidth <= innerWidth")
            first = "document.querySelector('#verdicts .word').getBoundingClientRect().bottom"
            assert browser.ask(f"{first} < innerHeight")  # a verdict on the first screen
        browser.ask("document.querySelector('#verdicts th:nth-child(3) button').click()")
        shown = browser.ask("[...document.querySelectorAll('#verdicts tbody')][0].rows[0].cells[0].textContent")
        assert shown == "pre_norm"
        assert set(browser.requests) == {path.as_uri()}
        assert not browser.complaints
