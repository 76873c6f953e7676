"""A study goes on after a kill, does only what is missing, and its runs are those of single commands, bit for bit."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from tests.commands.conftest import ROOT, TINY, Command
from zoo.sweep.notes import read_notes

PLUGIN = '''
import os, signal
from zoo.norm import norms
from zoo.norm.rmsnorm import RMSNorm

@norms.register("deadly")
class Deadly(RMSNorm):
    """Kills its process: always, or the first time when `once` names a file that is not there."""

    def __init__(self, width: int, *, eps: float = 1e-5, once: str | None = None):
        super().__init__(width, eps=eps)
        if once is None or not os.path.exists(once):
            if once is not None:
                open(once, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
'''


@pytest.fixture
def place(tmp_path: Path, text: Path) -> Path:
    """A folder with a plugin and the file of a study."""
    (tmp_path / "deadly.py").write_text(PLUGIN)
    group = tmp_path / "conf"
    (group / "model" / "norm").mkdir(parents=True)
    (group / "model" / "norm" / "deadly.yaml").write_text("name: deadly\neps: 1.0e-5\nonce: null\n")
    (group / "study").mkdir()
    once = tmp_path / "was here"
    lines = [
        "defaults: [_base, _self_]",
        "question: q",
        "expected: e",
        "source: s",
        "cost: c",
        "seeds: [0]",
        "tuning_seeds: 1",
    ]
    fixed = [*TINY[:-1], "data=text", f"data.path='{text}'", "plugins=[deadly]"]
    variants = [
        {"name": "good", "says": "", "overrides": []},
        {"name": "bad", "says": "", "overrides": ["model/norm=deadly"]},
        {"name": "unlucky", "says": "", "overrides": ["model/norm=deadly", f"model.norm.once='{once}'"]},
        {"name": "other", "says": "", "overrides": ["model/norm=layernorm", "model/ffn=relu"]},
    ]
    lines += [f"fixed: {json.dumps(fixed)}", f"variants: {json.dumps(variants)}"]
    (group / "study" / "mine.yaml").write_text("\n".join(lines) + "\n")
    return tmp_path


def given(place: Path) -> tuple[str, ...]:
    """What a command needs to find the study."""
    return f"hydra.searchpath=[file://{place / 'conf'}]", "study=mine"


def notes(place: Path) -> dict[tuple[str, int], dict[str, Any]]:
    """The notes of the study by variant and seed."""
    folder = place / "runs" / "studies" / "mine"
    jobs = json.loads((folder / "study.json").read_text())["jobs"]
    read = {job["job"]: folder / f"{job['job']}.json" for job in jobs}
    return {(job["variant"], job["seed"]): json.loads(read[job["job"]].read_text()) for job in jobs}


def states(place: Path) -> list[str]:
    """How the jobs of the study that have a note stand, by their numbers."""
    return [note.state for note in read_notes(place / "runs" / "studies" / "mine").values()]


def losses(folder: Path) -> list[Any]:
    """All that a run computed, without its times."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{k: v for k, v in one.items() if k not in ("seconds", "tokens_per_second")} for one in lines]


def weights(folder: Path) -> bytes:
    """The file of the last weights."""
    return (folder / "checkpoints" / "step_4" / "model.safetensors").read_bytes()


def interrupt(*arguments: object) -> None:
    raise KeyboardInterrupt


def test_each_tuning_value_is_run_then_the_best_with_the_other_seeds(
    command: Command, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = place / "conf" / "study" / "mine.yaml"
    lines = [line for line in file.read_text().splitlines() if not line.startswith(("variants", "seeds", "tuning"))]
    lines += ["seeds: [0, 1]", "tuning_seeds: 1", "variants: [{name: a, says: '', overrides: []}]"]
    file.write_text("\n".join([*lines, "tuning: {optimizer.lr: [1.0e-9, 1.0e-2, 1.0e+30]}"]) + "\n")
    words = (*given(place), "hydra/launcher=basic")
    done = command("train", *words, "dry_run=true")
    assert done.code == 0, done.err
    assert "4 runs, seeds 0, 1" in done.out
    assert not (place / "runs").exists()
    done = command("train", *words)
    assert done.code == 1  # one diverged
    assert "'a': best of 3 is optimizer.lr=0.01" in done.out
    jobs = json.loads((place / "runs" / "studies" / "mine" / "study.json").read_text())["jobs"]
    assert [(job["tuning"]["optimizer.lr"], job["seed"]) for job in jobs] == [
        (1e-9, 0),
        (0.01, 0),
        (1e30, 0),
        (0.01, 1),
    ]
    assert states(place) == ["done", "done", "diverged", "done"]
    refused = command("train", *words, "optimizer.lr=1")
    assert (refused.code, refused.out) == (2, "")  # how the jobs ended before is not what it did
    folders = [note["folder"] for note in notes(place).values()]
    assert command("train", *words).code == 1
    assert [note["folder"] for note in notes(place).values()] == folders  # also of the run that had diverged
    with monkeypatch.context() as patch:  # stopped before its first job: what there was of both phases is still known
        patch.setattr("zoo.study.sweeper.launch_all", interrupt)
        assert command("train", *words, "seed=0,1,2").code == 130
    assert states(place) == ["done", "done", "diverged", "done"]


def test_a_misspelt_option_is_refused_with_the_name_of_its_variant(command: Command, place: Path) -> None:
    file = place / "conf" / "study" / "mine.yaml"
    whole = file.read_text()
    file.write_text(whole.replace("model/norm=layernorm", "model.n_layer=3"))
    done = command("train", *given(place))
    assert done.code == 2
    meant = "no key 'model.n_layer' (did you mean model.n_layers?)"
    assert f"error: variant 'other' of study=mine: {meant}" in done.err
    file.write_text(whole)
    done = command("train", *given(place), "model.n_layer=3")  # where all variants have it, none is named
    assert f"error: {meant}" in done.err
    assert not (place / "runs" / "studies" / "mine" / "study.json").exists()


def test_a_part_of_ones_own_that_no_plugin_brings_in_is_refused_with_how_it_is(command: Command, place: Path) -> None:
    file = place / "conf" / "study" / "mine.yaml"
    file.write_text(file.read_text().replace(', "plugins=[deadly]"', ""))
    (place / "conf" / "model" / "norm" / "deadly.yaml").unlink()
    done = command("train", *given(place))
    assert done.code == 2
    assert "error: variant 'bad' of study=mine: no model/norm 'deadly'; choose from layernorm," in done.err
    hint = "(an option of your own needs plugins=[its_module], and hydra.searchpath=[folder] with model/norm/)"
    assert done.err.endswith(f"{hint}\n")
    assert "plugins" not in command("train", "model/norm=rmsnrom").err  # a part of ours is meant
    assert "plugins" not in command("train", "study=nosuch").err
    assert not (place / "runs").exists()


def process_of(place: Path, *words: str) -> "subprocess.Popen[str]":
    """The study, in a process of its own, two runs at once."""
    here = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{place}", "OMP_NUM_THREADS": "1"}
    whole = [sys.executable, str(ROOT / "train.py"), *given(place), "hydra.launcher.n_jobs=2", *words]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(whole, cwd=place, env=here, start_new_session=True, **pipes)


def end(study: "subprocess.Popen[str]") -> None:
    """Kill what is left of the process and of its workers."""
    with suppress(ProcessLookupError):
        os.killpg(study.pid, signal.SIGKILL)
    study.communicate()


def begun(place: Path, words: Sequence[str], lines: int) -> "subprocess.Popen[str]":
    """A study of long runs, once its two first runs have logged more than so many lines."""
    study = process_of(place, *words)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and study.poll() is None:
        logged = [file.read_bytes().count(b"\n") > lines for file in place.glob("runs/*/metrics.jsonl")]
        if sum(logged) == 2:
            break
        time.sleep(0.1)
    return study


def saved(place: Path) -> list[int]:
    """The steps at which the runs were interrupted; each is saved, and no process is at it."""
    steps = []
    for folder in sorted(place.glob("runs/modern*")):
        status = json.loads((folder / "status.json").read_text())
        assert status["state"] == "interrupted"
        assert (folder / "checkpoints" / f"step_{status['step']}").is_dir()
        with FileLock(folder / ".lock", timeout=0):
            steps.append(status["step"])
    return steps


def test_a_study_that_is_killed_or_interrupted_saves_its_runs_and_goes_on(command: Command, place: Path) -> None:
    words = ["study.variants=[{name: good, overrides: []}]", "seed=0,1,2", "record.log_every=1", "budget.steps=100000"]
    study = begun(place, words, 0)
    try:
        second = command("train", *given(place), *words)
        assert second.code == 2
        assert "another process runs" in second.err
        assert (second.out, second.err.count("\n")) == ("", 1)  # nothing of the jobs, which are not its own
        workers = {note.pid for note in read_notes(place / "runs/studies/mine").values()}
        assert len(workers) == 2
        study.kill()
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and any(Path(f"/proc/{pid}").exists() for pid in workers):
            time.sleep(0.1)
        first = saved(place)
        assert len(first) == 2
        assert not (place / "runs/studies/mine/.stop").exists()
    finally:
        end(study)
    study = begun(place, words, max(first) + 1)
    try:
        os.killpg(study.pid, signal.SIGTERM)  # to each worker too, which then is told twice
        _, said = study.communicate(timeout=120)
    finally:
        end(study)
    assert study.returncode == 130, said
    assert "stopping: 2 runs save" in said
    assert "interrupted; go on with: python train.py 'hydra.searchpath=" in said
    assert states(place) == ["interrupted"] * 2
    assert all(later > before for later, before in zip(saved(place), first, strict=True))


def test_a_study_outlives_killed_workers_and_its_runs_are_those_of_single_commands(
    command: Command, place: Path
) -> None:
    whole = process_of(place)
    said = "".join(whole.communicate(timeout=300))
    assert whole.returncode == 1, said
    found = notes(place)
    states = {variant: note["state"] for (variant, _), note in found.items()}
    assert states == {"good": "done", "bad": "killed", "unlucky": "done", "other": "done"}
    assert "killed twice" in said
    study = place / "runs" / "studies" / "mine"
    swept = {}
    for variant in ("good", "other"):  # two kinds of job that may have shared a worker
        note = found[variant, 0]
        swept[variant] = (study / note["folder"]).resolve()
        assert command("train", given(place)[0], *note["overrides"], "out=alone").code == 0
        (alone,) = (place / "alone").glob(f"*-{swept[variant].name.rpartition('-')[2]}")
        assert losses(alone) == losses(swept[variant])
        assert weights(alone) == weights(swept[variant])
    other = "{name: other, overrides: ['model/norm=layernorm', 'model/ffn=relu']}"
    again = f"study.variants=[{{name: good, overrides: []}}, {other}]"
    more = command("train", *given(place), again, "seed=0,1", "hydra.launcher.n_jobs=1")  # one process for all
    assert more.code == 0
    assert more.out.count("was there already") == 2
    assert {job for job, note in notes(place).items() if not note["found"]} == {("good", 1), ("other", 1)}
    for (variant, seed), note in notes(place).items():
        assert note["state"] == "done"
        if seed == 0:
            assert (study / note["folder"]).resolve() == swept[variant]
