"""A study goes on after a kill, does only what is missing, and its runs are those of single commands, bit for bit."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.commands.conftest import ROOT, TINY, Command

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


def train(place: Path, *overrides: str, code: int = 0) -> str:
    """What train.py says, in a process of its own."""
    here = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{place}", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(ROOT / "train.py"), f"hydra.searchpath=[file://{place / 'conf'}]"]
    done = subprocess.run([*command, *overrides], cwd=place, env=here, capture_output=True, text=True, timeout=300)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def notes(place: Path) -> dict[tuple[str, int], dict[str, Any]]:
    """The notes of the study by variant and seed."""
    folder = place / "runs" / "studies" / "mine"
    jobs = json.loads((folder / "study.json").read_text())["jobs"]
    read = {job["job"]: folder / f"{job['job']}.json" for job in jobs}
    return {(job["variant"], job["seed"]): json.loads(read[job["job"]].read_text()) for job in jobs}


def losses(folder: Path) -> list[Any]:
    """All that a run computed, without its times."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{k: v for k, v in one.items() if k not in ("seconds", "tokens_per_second")} for one in lines]


def weights(folder: Path) -> bytes:
    """The file of the last weights."""
    return (folder / "checkpoints" / "step_4" / "model.safetensors").read_bytes()


def test_each_tuning_value_is_run_then_the_best_with_the_other_seeds(command: Command, place: Path) -> None:
    file = place / "conf" / "study" / "mine.yaml"
    lines = [line for line in file.read_text().splitlines() if not line.startswith(("variants", "seeds", "tuning"))]
    lines += ["seeds: [0, 1]", "tuning_seeds: 1", "variants: [{name: a, says: '', overrides: []}]"]
    file.write_text("\n".join([*lines, "tuning: {optimizer.lr: [1.0e-9, 1.0e-2, 1.0e+30]}"]) + "\n")
    given = (f"hydra.searchpath=[file://{place / 'conf'}]", "study=mine", "hydra/launcher=basic")
    done = command("train", *given, "dry_run=true")
    assert done.code == 0, done.err
    assert "4 runs, seeds 0, 1" in done.out
    assert not (place / "runs").exists()
    done = command("train", *given)
    assert done.code == 1  # one diverged
    assert "a: best of 3 is optimizer.lr=0.01" in done.out
    jobs = json.loads((place / "runs" / "studies" / "mine" / "study.json").read_text())["jobs"]
    assert [(job["tuning"]["optimizer.lr"], job["seed"]) for job in jobs] == [
        (1e-9, 0),
        (0.01, 0),
        (1e30, 0),
        (0.01, 1),
    ]
    states = [json.loads((place / "runs" / "studies" / "mine" / f"{i}.json").read_text())["state"] for i in range(4)]
    assert states == ["done", "done", "diverged", "done"]


def test_an_interruption_saves_every_run_and_says_how_to_go_on(place: Path) -> None:
    here = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{place}", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(ROOT / "train.py"), "-m", *TINY, "budget.steps=100000", "data=text"]
    command += [f"data.path='{place / 'my text.txt'}'", "seed=0,1,2", "hydra.launcher.n_jobs=2", "record.log_every=1"]
    study = subprocess.Popen(command, cwd=place, env=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            if sum(file.stat().st_size > 0 for file in place.glob("runs/*/metrics.jsonl")) == 2:
                break
            time.sleep(0.1)
        study.send_signal(signal.SIGINT)
        _, said = study.communicate(timeout=120)
    finally:
        study.kill()
    assert study.returncode == 130, said
    assert "stopping: 2 runs save" in said
    assert "interrupted; go on with: python train.py -m" in said
    states = [json.loads(file.read_text())["state"] for file in place.glob("runs/sweeps/*/[0-9].json")]
    assert states == ["interrupted"] * 2
    for folder in place.glob("runs/modern*"):
        status = json.loads((folder / "status.json").read_text())
        assert status["state"] == "interrupted"
        assert (folder / "checkpoints" / f"step_{status['step']}").is_dir()


def test_a_study_outlives_killed_workers_and_its_runs_are_those_of_single_commands(place: Path) -> None:
    said = train(place, "study=mine", "hydra.launcher.n_jobs=2", code=1)
    found = notes(place)
    states = {variant: note["state"] for (variant, _), note in found.items()}
    assert states == {"good": "done", "bad": "killed", "unlucky": "done", "other": "done"}
    assert "killed twice" in said
    study = place / "runs" / "studies" / "mine"
    swept = {}
    for variant in ("good", "other"):  # two kinds of job that may have shared a worker
        note = found[variant, 0]
        swept[variant] = (study / note["folder"]).resolve()
        train(place, *note["overrides"], "out=alone")
        (alone,) = (place / "alone").glob(f"*-{swept[variant].name.rpartition('-')[2]}")
        assert losses(alone) == losses(swept[variant])
        assert weights(alone) == weights(swept[variant])
    other = "{name: other, overrides: ['model/norm=layernorm', 'model/ffn=relu']}"
    again = f"study.variants=[{{name: good, overrides: []}}, {other}]"
    said = train(place, "study=mine", again, "seed=0,1", "hydra.launcher.n_jobs=1")  # one worker for all
    assert said.count("was there already") == 2
    assert {job for job, note in notes(place).items() if not note["found"]} == {("good", 1), ("other", 1)}
    for (variant, seed), note in notes(place).items():
        assert note["state"] == "done"
        if seed == 0:
            assert (study / note["folder"]).resolve() == swept[variant]
