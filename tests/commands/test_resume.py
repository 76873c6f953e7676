"""A run that stops goes on as if it had not."""

import errno
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import zoo
from tests.commands.conftest import ROOT, TINY, Command
from tests.commands.started import FORKED, FRESH, Context, Started, laid_over
from zoo.errors import UserError
from zoo.training.checkpoint import latest_checkpoint
from zoo.training.manifest import seal

STEPS = (
    "budget.steps=12",
    "record.log_every=1",
    "record.checkpoint_every=3",
    "model.dropout=0.2",
    "budget.accumulate=2",
    "optimizer.ema=0.9",
)


def lines(folder: Path) -> list[dict]:
    """The metrics of a run, without what depends on the clock."""
    found = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{k: v for k, v in line.items() if k not in ("seconds", "tokens_per_second")} for line in found]


def train_state(folder: Path) -> dict:
    """What the newest checkpoint says of the run."""
    found = latest_checkpoint(folder / "checkpoints", to_resume=True)
    assert found is not None
    return found.train_state()


def only(root: Path) -> Path:
    """The one folder in there."""
    (found,) = root.iterdir()
    return found


@pytest.mark.parametrize(
    ("model", "dtype", "context"),
    [("modern", "float32", FRESH), ("mixtral", "float32", FORKED), ("modern", "float16", FORKED)],
    ids=["modern-float32", "mixtral-float32", "modern-float16"],
)
def test_a_killed_run_goes_on_to_the_same_bits(
    command: Command,
    start: Callable[..., Started],
    text: Path,
    tmp_path: Path,
    model: str,
    dtype: str,
    context: Context,
) -> None:
    """In float16 with the scale of its loss, and how long ago that was chosen."""
    options = (f"model={model}", "data=text", f"data.path='{text}'", *TINY, *STEPS, f"runtime.dtype={dtype}")
    assert command("train", *options, "out=straight").code == 0
    killed = tmp_path / "killed"
    run = start("train", *options, "out=killed", context=context)
    while run.runs and not list(killed.glob("*/checkpoints/step_6")):
        time.sleep(0.01)
    run.send(signal.SIGKILL)
    assert run.code() == -signal.SIGKILL
    assert command("train", f"resume='{only(killed)}'").code == 0
    assert lines(only(killed)) == lines(only(tmp_path / "straight"))
    scales = [train_state(only(root)).get("scale") for root in (killed, tmp_path / "straight")]
    assert scales[0] == scales[1]
    assert (scales[0] is not None) == (dtype == "float16")
    weights = [
        root / "checkpoints" / "step_12" / "model.safetensors" for root in (only(killed), only(tmp_path / "straight"))
    ]
    assert weights[0].read_bytes() == weights[1].read_bytes()


def test_ctrl_c_saves_and_says_how_to_resume(text: Path, tmp_path: Path) -> None:
    options = (
        "data=text",
        f"data.path='{text}'",
        *TINY,
        *STEPS,
        "budget.steps=100000",
        "record.checkpoint_every=100000",
    )
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "train.py"), *laid_over(options)],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    for line in process.stdout:
        if line.startswith("step 2"):
            break
    os.kill(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    folder = only(tmp_path / "runs")
    assert f"resume=runs/{folder.name}" in err
    status = json.loads((folder / "status.json").read_text())
    assert status["state"] == "interrupted"
    assert (folder / "checkpoints" / f"step_{status['step']}").is_dir()


def test_the_end_of_a_job_while_it_scores_is_told_as_ctrl_c_is(
    command: Command, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ended(*arguments: object, **keys: object) -> None:
        assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL  # which would end this process
        signal.raise_signal(signal.SIGTERM)

    before = signal.getsignal(signal.SIGTERM)
    options = ("data=text", f"data.path='{text}'", *TINY)
    monkeypatch.setattr("zoo.jobs.job.score", ended)
    done = command("train", *options)
    folder = only(tmp_path / "runs")
    assert done.code == 130
    assert f"step 4 is saved. Go on with: python train.py resume=runs/{folder.name}" in done.err
    assert json.loads((folder / "status.json").read_text())["state"] == "interrupted"
    assert signal.getsignal(signal.SIGTERM) is before
    monkeypatch.undo()
    assert command("train", *options).code == 0


def test_a_resumed_run_says_when_its_data_has_changed(command: Command, text: Path, tmp_path: Path) -> None:
    options = ("data=text", f"data.path='{text}'", *TINY)
    assert command("train", *options).code == 0
    folder = only(tmp_path / "runs")
    (folder / "status.json").write_text('{"state": "running"}')
    text.write_text(text.read_text() + "more\n")
    done = command("train", f"resume='{folder}'")
    assert done.code == 2
    assert "changed" in done.err


def test_a_diverged_run_names_the_step_and_the_layer(command: Command, text: Path, tmp_path: Path) -> None:
    options = ("data=text", f"data.path='{text}'", *TINY, "optimizer.lr=1e30", "optimizer.clip=null")
    done = command("train", *options)
    assert done.code == 1
    status = json.loads((only(tmp_path / "runs") / "status.json").read_text())
    assert status["state"] == "diverged"
    assert status["step"] >= 1
    assert status["layer"] in done.err


def status_of(folder: Path) -> dict:
    """How the run stands, without how long it took."""
    status = json.loads((folder / "status.json").read_text())
    return {key: value for key, value in status.items() if key not in ("pid", "host", "seconds")}


@pytest.mark.parametrize("where", ["_score validation", "_score test", "finish"])
def test_a_run_killed_after_its_last_checkpoint_ends_as_a_straight_one(
    command: Command,
    trained: Callable[..., Path],
    text: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    where: str,
) -> None:
    from zoo.jobs.job import Job
    from zoo.training.run import RunFolder

    options = ("data=text", f"data.path='{text}'", *TINY, "budget.evaluate_every=2")
    straight = trained("budget.evaluate_every=2")

    class Killed(BaseException):
        pass

    score, finish = Job._score, RunFolder.finish

    def dying_score(self: Job, split: str, batches: int | None) -> object:
        if where == f"_score {split}" and self.state.step == 4:
            raise Killed
        return score(self, split, batches)

    def dying_finish(self: RunFolder, state: str, **details: object) -> None:
        if state != "failed":
            raise Killed  # a process that is killed says nothing more

    with monkeypatch.context() as patched:
        patched.setattr(Job, "_score", dying_score)
        patched.setattr(RunFolder, "finish", dying_finish)
        with pytest.raises(Killed):
            command("train", *options, "out=killed")
    killed = only(tmp_path / "killed")
    assert status_of(killed) == {"state": "running"}
    assert command("train", f"resume='{killed}'").code == 0
    assert lines(killed) == lines(straight)
    assert status_of(killed) == status_of(straight)
    assert status_of(killed)["scores"].keys() == {"validation", "test"}
    assert finish is RunFolder.finish


def test_the_last_validation_covers_the_whole_split(command: Command, text: Path, tmp_path: Path) -> None:
    command("train", "data=text", f"data.path='{text}'", *TINY, "budget.evaluate_every=2", "budget.evaluate_batches=1")
    scored = [(one["step"], one["scored"]) for one in lines(only(tmp_path / "runs")) if one["split"] == "validation"]
    rows = json.loads((only(tmp_path / "runs") / "record.json").read_text())["rows"]["validation"]
    assert scored[0] == (2, 4 * 16)
    assert scored[1][1] > 16 * (rows["evaluation_rows"] - 1)


@pytest.fixture
def finished(trained: Callable[..., Path]) -> Path:
    """A run that is whole but for its status."""
    folder = trained()
    (folder / "status.json").write_text('{"state": "running"}')
    return folder


@pytest.mark.parametrize("override", ["seed=1", "model.d_model=8", "model=gpt2", "budget.steps=9", "out=there"])
def test_an_override_that_resuming_would_ignore_is_refused(command: Command, finished: Path, override: str) -> None:
    done = command("train", f"resume='{finished}'", override)
    assert done.code == 2
    assert f"{override}: resume=" in done.err


def test_a_resumed_run_honours_the_runtime_and_keeps_its_first_record(command: Command, finished: Path) -> None:
    first = json.loads((finished / "record.json").read_text())
    done = command("train", f"resume='{finished}'", "runtime.threads=2")
    assert done.code == 2
    assert "runtime.threads=1 instead of 2" in done.err
    assert command("train", f"resume='{finished}'", "runtime.threads=1", "record.log_every=1", "cache=other").code == 0
    record = json.loads((finished / "record.json").read_text())
    (resumed,) = record.pop("resumed")
    assert record == first
    assert resumed["step"] == 4
    assert resumed["machinery"]["threads"] == 1
    assert {"commit", "dirty", "machine", "packages", "overrides"} <= resumed.keys()


def test_a_resumed_folder_must_be_text(command: Command) -> None:
    done = command("train", "resume=5")
    assert (done.code, done.err) == (2, "error: resume must be text, got 5 (int)\n")


@pytest.mark.parametrize("file", ["status.json", "metrics.jsonl", "record.json", "config.yaml"])
def test_a_damaged_run_folder_is_refused_with_a_sentence(command: Command, finished: Path, file: str) -> None:
    (finished / file).write_text("{{{\n")
    done = command("train", f"resume='{finished}'")
    assert done.code == 2
    assert done.err.startswith("error: ")
    assert file in done.err


LOST = pytest.mark.parametrize(
    "harm",
    [
        Path.unlink,
        lambda file: file.write_text(""),
        lambda file: file.write_text("garbage without an end"),
        lambda file: file.write_text("".join(file.read_text().splitlines(keepends=True)[1:])),
    ],
    ids=["deleted", "emptied", "overwritten", "cut"],
)


@LOST
def test_a_run_whose_earlier_lines_are_lost_does_not_go_on(
    command: Command, trained: Callable[..., Path], harm: Callable[[Path], object]
) -> None:
    folder = trained("record.log_every=1", "record.checkpoint_every=2")
    (folder / "status.json").write_text('{"state": "running"}')
    harm(folder / "metrics.jsonl")
    done = command("train", f"resume='{folder}'")
    assert done.code == 2
    assert "metrics.jsonl" in done.err
    assert done.err.endswith("remove the folder to begin anew\n")
    assert status_of(folder) == {"state": "running"}


@LOST
def test_a_finished_run_whose_lines_are_lost_says_so(
    command: Command, trained: Callable[..., Path], text: Path, harm: Callable[[Path], object]
) -> None:
    options = ("data=text", f"data.path='{text}'", *TINY, "record.log_every=1")
    folder = trained("record.log_every=1")
    whole = len(lines(folder))
    assert status_of(folder)["lines"] == whole
    assert command("train", f"resume='{folder}'").code == 0
    harm(folder / "metrics.jsonl")
    for words in (options, (f"resume='{folder}'",)):
        done = command("train", *words)
        assert done.code == 2
        assert f"of the {whole} lines of the finished run; remove the folder to begin anew" in done.err
        assert "cannot be had" not in done.out
    (folder / "status.json").write_text('{"state": "done", "step": 4}')  # of a run that did not count them
    (folder / "metrics.jsonl").write_text("")
    assert "has 0 of the 1 lines" in command("train", f"resume='{folder}'").err


def test_a_checkpoint_that_does_not_fit_is_refused_with_a_sentence(command: Command, finished: Path) -> None:
    config = finished / "config.yaml"
    record = json.loads((finished / "record.json").read_text())
    record["science"]["model"]["d_model"] = 8
    (finished / "record.json").write_text(json.dumps(record))
    config.write_text(config.read_text().replace("d_model: 16", "d_model: 8"))
    done = command("train", f"resume='{finished}'")
    assert done.code == 2
    assert "does not fit this model" in done.err


@pytest.mark.parametrize("steps", [1, 4])
def test_a_model_that_cannot_be_scored_has_diverged(command: Command, text: Path, tmp_path: Path, steps: int) -> None:
    options = ("data=text", f"data.path='{text}'", *TINY, "optimizer=sgd", "optimizer.lr=1e30", "optimizer.clip=null")
    done = command("train", *options, f"budget.steps={steps}", "schedule.warmup=0")
    assert done.code == 1
    folder = only(tmp_path / "runs")
    assert json.loads((folder / "status.json").read_text())["state"] == "diverged"
    assert not any(line["loss"] is None for line in lines(folder))


def test_a_second_interruption_is_one_too(
    command: Command, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from zoo.jobs.job import Job

    def interrupted(self: Job, split: str, batches: int | None) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(Job, "_score", interrupted)
    done = command("train", "data=text", f"data.path='{text}'", *TINY)
    assert done.code == 130
    assert "step 4 is saved" in done.err
    assert status_of(only(tmp_path / "runs")) == {"state": "interrupted", "step": 4}


def test_a_full_disk_is_a_sentence(
    command: Command, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from zoo.training import files

    write = files.write_flushed

    def full(path: Path, data: bytes) -> None:
        if len(data) > 2000:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(path, data)

    with monkeypatch.context() as patched:
        patched.setattr(files, "write_flushed", full)
        patched.setattr("zoo.training.checkpoint.write_flushed", full)
        done = command("train", "data=text", f"data.path='{text}'", *TINY)
    assert done.code == 2
    assert "No space left on device" in done.err
    assert done.err.count("\n") == 1
    folder = only(tmp_path / "runs")
    assert not (folder / "record.json").exists()
    status = status_of(folder)
    assert (status["state"], status["step"]) == ("failed", 0)
    assert "No space left on device" in status["reason"]
    assert command("train", "data=text", f"data.path='{text}'", *TINY).code == 0
    assert status_of(only(tmp_path / "runs"))["state"] == "done"


@pytest.mark.parametrize(("stops", "state"), [("record.json", None), ("done", "failed")])
def test_no_run_that_the_disk_stopped_seems_to_run(
    command: Command, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stops: str, state: str | None
) -> None:
    """It takes nothing any more from the record on, or all but the word that the run is done."""
    from zoo.training import files

    write, refused = files.write_flushed, []

    def full(path: Path, data: bytes) -> None:
        if stops in path.name or (b'"state": "done"' in data and stops == "done") or (refused and stops != "done"):
            refused.append(path)
            raise OSError(errno.ENOSPC, "No space left on device")
        write(path, data)

    monkeypatch.setattr(files, "write_flushed", full)
    assert command("train", "data=text", f"data.path='{text}'", *TINY).code == 2
    folder = only(tmp_path / "runs")
    assert (status_of(folder)["state"] if (folder / "status.json").exists() else None) == state
    assert len(refused) == (2 if state is None else 1)


@pytest.mark.parametrize("key", ["out", "cache"])
def test_a_folder_that_cannot_be_written_is_a_sentence(command: Command, text: Path, key: str) -> None:
    done = command("train", "data=text", f"data.path='{text}'", *TINY, f"{key}=/proc/nowhere")
    assert done.code == 2
    assert "/proc/nowhere" in done.err


def test_output_that_cannot_be_written_is_a_sentence(start: Callable[..., Started], text: Path) -> None:
    run = start("train", "data=text", f"data.path='{text}'", *TINY, out=Path("/dev/full"))
    assert run.code() == 2
    assert run.err.read_text() == "error: No space left on device; nothing can be written there\n"


def test_equal_runs_started_at_once_are_one_run_with_one_writer(
    start: Callable[..., Started], text: Path, tmp_path: Path
) -> None:
    options = ("data=text", f"data.path='{text}'", *TINY, "record.log_every=1", "budget.steps=20")
    started = [start("train", *options) for _ in range(8)]
    ended = [(one.code(), one.out.read_text(), one.err.read_text()) for one in started]
    for code, out, err in ended:
        assert code == 0 or "is being written by process" in err, err
        assert code != 0 or "already" in out or "step 20/20" in out
    assert sum(code == 0 and "step 20/20" in out for code, out, _ in ended) == 1
    folder = only(tmp_path / "runs")
    steps = [line["step"] for line in lines(folder) if line["split"] == "train"]
    assert steps == list(range(1, 21))
    assert status_of(folder)["state"] == "done"


def test_a_run_on_a_relative_path_goes_on_from_another_folder(command: Command, text: Path, tmp_path: Path) -> None:
    options = ("data=text", f"data.path='{text.name}'", *TINY, "budget.steps=6")
    assert command("train", *options).code == 0
    folder = only(tmp_path / "runs")
    before = lines(folder)
    (folder / "status.json").write_text('{"state": "running"}')
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = command("train", f"resume='{folder}'", folder=elsewhere)
    assert done.code == 0, done.err
    assert lines(folder)[: len(before)] == before
    assert json.loads((folder / "record.json").read_text())["overrides"] == laid_over(options)


def rewrite(checkpoint: Path, change: Callable[[dict], object]) -> None:
    """Change what model.json says, under a seal that fits."""
    about = json.loads((checkpoint / "model.json").read_text())
    change(about)
    names = about["sha256"]
    about["sha256"] = {name: hashlib.sha256((checkpoint / name).read_bytes()).hexdigest() for name in names}
    (checkpoint / "model.json").write_text(json.dumps({**about, "seal": seal(about)}))


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (lambda state: state["optimizer"].popitem(), "it lacks"),
        (
            lambda state: next(iter(state["optimizer"].values())).update(momentum_buffer=torch.zeros(1)),
            "does not fit its shape",
        ),
        (lambda state: state.update(tokens=float("inf")), "tokens, flops and lines must be"),
        (lambda state: state.update(seconds=-1.0), "seconds must be"),
        (lambda state: state.update(lines=-1), "tokens, flops and lines must be"),
        (lambda state: state.update(optimizer=5), "does not hold the state"),
    ],
)
def test_a_damaged_train_state_is_refused_before_the_run_is_marked_running(
    command: Command, finished: Path, harm: Callable[[dict], object], words: str
) -> None:
    checkpoint = finished / "checkpoints" / "step_4"
    state = torch.load(checkpoint / "train_state.pt", weights_only=True)
    harm(state)
    torch.save(state, checkpoint / "train_state.pt")
    rewrite(checkpoint, lambda about: None)
    status = (finished / "status.json").read_text()
    done = command("train", f"resume='{finished}'")
    assert done.code == 2
    assert done.err.startswith("error: ")
    assert words in done.err
    assert (finished / "status.json").read_text() == status


@pytest.mark.parametrize("what", ["", "generate.prompt=x", "attention.text=x", "latency.prompts=[4]"])
def test_a_model_beyond_all_memory_is_not_loaded(command: Command, finished: Path, what: str) -> None:
    rewrite(finished / "checkpoints" / "step_4", lambda about: about["architecture"]["model"].update(d_model=10**8))
    done = command("evaluate", f"run='{finished}'", *([what] if what else []))
    assert done.code == 2
    assert done.err.startswith("error: this needs more memory than there is (tried to allocate")
    assert done.err.endswith("; its model alone does not fit: load it on a larger machine\n")


@pytest.mark.parametrize(
    ("asked", "advice"),
    [
        (
            ("generate.prompt=x", "generate.max_new_tokens=99999999999"),
            "make max_new_tokens, samples or beams smaller, or give fewer prompts",
        ),
        (
            ("latency.prompts=[4]", "latency.batches=[100000000000]"),
            "make latency.prompts, latency.batches or latency.new_tokens smaller",
        ),
    ],
    ids=["max_new_tokens", "latency"],
)
def test_what_does_not_fit_into_memory_is_told_by_its_own_keys(
    command: Command, finished: Path, asked: tuple[str, ...], advice: str
) -> None:
    done = command("evaluate", f"run='{finished}'", *asked)
    assert done.code == 2
    said = done.err.splitlines()[-1]
    assert said.startswith("error: ")
    assert "GiB" in said or "more memory than there is" in said
    assert said.endswith(f"; {advice}")


def test_a_checkpoint_beyond_the_run_is_refused(command: Command, finished: Path) -> None:
    checkpoint = (finished / "checkpoints" / "step_4").rename(finished / "checkpoints" / "step_5")
    rewrite(checkpoint, lambda about: about.update(step=5))
    done = command("train", f"resume='{finished}'")
    assert done.code == 2
    assert "step_5 lies beyond budget.steps=4; remove the folder to begin anew" in done.err


def test_a_checkpoint_that_says_wrong_things_of_its_making_is_not_loaded(finished: Path) -> None:
    checkpoint = finished / "checkpoints" / "step_4"
    architecture = json.loads((checkpoint / "model.json").read_text())["architecture"]
    assert zoo.load(checkpoint).step == 4
    for key, value, words in (
        ("model", None, "architecture.model must be a mapping"),
        ("model", {"name": 5}, "model"),
        ("data", "text", "architecture.data must be a mapping"),
        ("vocabulary", "259", "architecture.vocabulary must be"),
        ("vocabulary", -1, "architecture.vocabulary must be"),
        ("vocabulary", True, "architecture.vocabulary must be"),
        ("vocabulary", 10**12, "its tokenizer has 259"),
        ("context", 0.5, "architecture.context must be"),
    ):
        rewrite(checkpoint, lambda about, key=key, value=value: about.update(architecture={**architecture, key: value}))
        with pytest.raises(UserError, match=words):
            zoo.load(checkpoint)
    rewrite(checkpoint, lambda about: about.update(architecture=architecture))
    (checkpoint / "tokenizer.json").write_text("[" * 100_000)
    rewrite(checkpoint, lambda about: None)
    with pytest.raises(UserError, match=r"tokenizer\.json is damaged"):
        zoo.load(checkpoint)
