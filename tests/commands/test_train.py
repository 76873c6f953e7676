"""The main job, from the command line to a run folder that rebuilds the model."""

import json
import math
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import yaml

import zoo
from tests.commands.conftest import TINY, Command
from zoo.paths import CONF
from zoo.training import capability

MODELS = sorted(path.stem for path in (CONF / "model").glob("*.yaml") if not path.stem.startswith("_"))


def folder_of(root: Path) -> Path:
    """The one run folder under `root`."""
    (found,) = (root / "runs").iterdir()
    return found


@pytest.mark.parametrize("model", MODELS)
def test_every_model_trains_on_a_text_file_into_a_folder_that_rebuilds_it(
    command: Command, text: Path, tmp_path: Path, model: str
) -> None:
    done = command("train", f"model={model}", "data=text", f"data.path='{text}'", *TINY)
    assert done.code == 0, done.err
    folder = folder_of(tmp_path)
    assert json.loads((folder / "status.json").read_text())["state"] == "done"
    rebuilt = zoo.load(folder)
    assert rebuilt.step == 4
    tokens = torch.from_numpy(rebuilt.tokenizer.encode(b"line 7"))[None]
    inputs = {"source": tokens} if rebuilt.model.topology.traits.reads_source else {}
    assert rebuilt.model(tokens, **inputs).logits.isfinite().all()


def test_a_folder_has_what_the_design_says(command: Command, text: Path, tmp_path: Path) -> None:
    command("train", "data=text", f"data.path='{text}'", "record.log_every=1", *TINY)
    folder = folder_of(tmp_path)
    config = yaml.safe_load((folder / "config.yaml").read_text())
    assert config["model"]["d_model"] == 16
    assert not any("${" in str(value) for value in config["model"].values())  # resolved
    record = json.loads((folder / "record.json").read_text())
    for key in (
        "choices",
        "overrides",
        "science",
        "costs",
        "machinery",
        "data",
        "parameter_groups",
        "commit",
        "packages",
    ):
        assert key in record
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert [(line["step"], line["split"]) for line in lines] == [
        *((step, "train") for step in (1, 2, 3, 4)),
        (4, "validation"),
        (4, "test"),
    ]
    for line in lines:
        assert {"loss", "tokens", "seconds"} <= line.keys()
    assert {"lr", "grad_norm", "tokens_per_second"} <= lines[0].keys()
    assert {path.name for path in (folder / "checkpoints" / "step_4").iterdir()} == {
        "model.safetensors",
        "model.json",
        "tokenizer.json",
        "train_state.pt",
    }


def test_the_start_says_what_the_corpus_is(command: Command, text: Path) -> None:
    text.write_text(text.read_text() + text.read_text()[:4000])
    done = command("train", "data=text", f"data.path='{text}'", "tokenizer=bytes", *TINY)
    (line,) = [line for line in done.out.splitlines() if "data=text: " in line]
    assert "tokens of bytes; line ends kept as they are: " in line
    assert re.search(r"; \d+ of \d+ validation lines \(.* %\) stand in train, \d+ of \d+ test lines \(", line)


def test_a_finished_run_is_found_again_and_not_repeated(
    command: Command, trained: Callable[..., Path], text: Path, tmp_path: Path
) -> None:
    before = (trained() / "metrics.jsonl").stat().st_mtime_ns
    again = command("train", "data=text", f"data.path='{text}'", *TINY, "model/norm=rmsnorm")  # the same, spelt out
    assert again.code == 0
    assert "already" in again.out
    assert (folder_of(tmp_path) / "metrics.jsonl").stat().st_mtime_ns == before


def test_another_text_is_another_run(
    command: Command, trained: Callable[..., Path], text: Path, tmp_path: Path
) -> None:
    trained()
    text.write_text(text.read_text() + "one more line\n")
    command("train", "data=text", f"data.path='{text}'", *TINY)
    assert len(list((tmp_path / "runs").iterdir())) == 2


def test_a_sweep_of_hydra_makes_a_run_for_each_job(command: Command, text: Path, tmp_path: Path) -> None:
    sweep = ("-m", "hydra/launcher=basic", "model/norm=layernorm,none", "seed=0,1")
    done = command("train", *sweep, "data=text", f"data.path='{text}'", *TINY)
    assert done.code == 0, done.err
    states = [json.loads(path.read_text())["state"] for path in (tmp_path / "runs").glob("*/status.json")]
    assert states == ["done"] * 4


def test_evaluate_scores_a_run_as_training_did(
    command: Command, trained: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = trained()
    fast = {"float32": 100.0, "bfloat16": 400.0}  # a machine that would rather compute in bfloat16
    monkeypatch.setattr(capability, "product_speeds", lambda: fast)
    done = command("evaluate", f"run='{folder}'", "json=scores.json", "batch_size=3")
    assert done.code == 0, done.err
    scores = json.loads((tmp_path / "scores.json").read_text())
    expected = json.loads((folder / "status.json").read_text())["scores"]["test"]
    assert scores["test"]["loss"] == pytest.approx(expected["loss"], rel=1e-6)
    assert scores["test"]["bits_per_byte"] == pytest.approx(expected["bits_per_byte"], rel=1e-6)
    nats, perplexity = (float(word) for word in done.out.split("\ntest")[1].split()[:2])
    assert perplexity == pytest.approx(math.exp(nats), rel=1e-3)


def test_a_run_that_begins_on_busy_cores_says_so_and_one_that_goes_on_does_not(
    command: Command, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.getloadavg", lambda: (1e6, 0.0, 0.0), raising=False)
    words = ("data=text", f"data.path='{text}'", *TINY, "runtime.threads=2", "record.checkpoint_every=2")
    busy = "other work keeps the cores busy (load 1000000.0 on "
    assert busy in command("train", *words).out
    folder = folder_of(tmp_path)
    (folder / "status.json").unlink()
    shutil.rmtree(folder / "checkpoints" / "step_4")
    again = command("train", f"resume='{folder}'", "runtime.threads=2")
    assert ", from step 2;" in again.out, again.err
    assert busy not in again.out
