"""What a run says of itself at its end changes nothing of the run."""

import json
import re
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor, nn

from tests.commands.conftest import TINY, Command
from tests.helpers import composed
from zoo.api import load
from zoo.assembly import build_model
from zoo.config import parse_model
from zoo.data.corpus import load_corpus
from zoo.head import Head
from zoo.objective import objectives
from zoo.option import Option
from zoo.schema import parse_option
from zoo.topology import topologies
from zoo.training.feed import Feed
from zoo.training.gradients import gradient_norms, gradients_of, unclipped
from zoo.training.runtime import Machinery
from zoo.training.scoring import score

RECORD = ("record.gradients_every=2", "record.lengths=[8,16,24]", "record.log_every=1", "optimizer.clip=0.01")
KEPT = ("record.checkpoint_every=1", "record.keep_checkpoints=3")
RANDOM = ("model.dropout=0.1", "optimizer.ema=0.5")
"""What a look at the run on its way could move: masks, and weights that are lent to be scored."""


def test_scores_on_the_way_at_other_lengths_and_gradients_are_written_and_change_nothing(
    command: Command, text: Path, tmp_path: Path
) -> None:
    options = ("data=text", f"data.path='{text}'", *TINY, *RANDOM, "model/position=learned", "optimizer.clip=0.01")
    found = {}
    for name, record in (
        ("with", (*RECORD[:3], "budget.evaluate_every=1", *KEPT)),
        ("without", ("record.log_every=1",)),
    ):
        assert command("train", *options, *record, f"out={name}").code == 0
        (found[name],) = (tmp_path / name).iterdir()
    assert {one.name for one in (found["with"] / "checkpoints").iterdir()} == {f"step_{step}" for step in (2, 3, 4)}
    weights, averages = (
        [(folder / "checkpoints" / "step_4" / f"{name}.safetensors").read_bytes() for folder in found.values()]
        for name in ("model", "ema")
    )
    assert weights[0] == weights[1] != averages[0] == averages[1]
    scores = json.loads((found["with"] / "scores.json").read_text())
    status = json.loads((found["with"] / "status.json").read_text())
    assert scores["test"] == status["scores"]["test"]
    at = {one["context"]: one for one in scores["lengths"]}
    assert at[16]["loss"] == pytest.approx(scores["test"]["loss"], rel=1e-6)
    assert at[8]["loss"] > 0
    assert at[24]["loss"] is None
    assert "16 apart" in at[24]["why"]
    assert "lengths" not in json.loads((found["without"] / "scores.json").read_text())
    lines = [json.loads(line) for line in (found["with"] / "metrics.jsonl").read_text().splitlines()]
    noted = [one for one in lines if "gradients" in one]
    assert [one["step"] for one in noted] == [2, 4]
    for one in noted:  # before clipping, so they add up to the global norm
        assert sum(norm**2 for norm in one["gradients"].values()) ** 0.5 == pytest.approx(one["grad_norm"], rel=1e-4)
    sublayers = {name.split(".blocks.")[1] for name in scores["gradients"]["initial"] if ".blocks." in name}
    assert sublayers == {f"{layer}.{part}" for layer in (0, 1) for part in ("mixer", "ffn", "mixer_norm", "ffn_norm")}
    assert scores["gradients"]["initial"] != scores["gradients"]["final"]


def test_a_length_that_the_split_cannot_fill_has_no_loss_and_is_refused_in_an_evaluation(
    command: Command, text: Path, tmp_path: Path
) -> None:
    split = ("data.split=[0.9,0.05,0.05]", "tokenizer=bytes")
    options = ("data=text", f"data.path='{text}'", *split, *TINY, "record.lengths=[500,100000000]")
    assert command("train", *options).code == 0
    (folder,) = (tmp_path / "runs").iterdir()
    near, far = json.loads((folder / "scores.json").read_text())["lengths"]
    assert near["loss"] > 0
    assert far["loss"] is None
    found = re.search(
        r"record.lengths=100000000 positions, but the longest row that the test split .+ has (\d+); set", far["why"]
    )
    assert found
    longest = int(found[1])
    asked = (f"run='{folder}'", "splits=[test]")
    assert command("evaluate", *asked, f"context={longest}").code == 0
    done = command("evaluate", *asked, f"context={longest + 1}")
    assert done.code == 2
    assert f"error: context={longest + 1} positions, but the longest row that the test split can fill" in done.err


def test_a_finished_run_is_scored_later_as_if_it_had_been_asked_at_once(
    command: Command, text: Path, tmp_path: Path
) -> None:
    options = ("data=text", f"data.path='{text}'", *TINY, "model/position=learned", "optimizer.ema=0.5")
    asked = ("record.gradients_every=2", "record.lengths=[8,24]")
    assert command("train", *options, *asked, "out=at_once").code == 0
    assert command("train", *options, "record.lengths=[8]", "out=later").code == 0
    folders = [next((tmp_path / name).iterdir()) for name in ("at_once", "later")]
    at_once, later = ((folder / "scores.json") for folder in folders)
    again = command("train", *options, *asked, "out=later")
    assert "nothing to do" in again.out
    assert "record.gradients_every=2: what was not noted at 2 of 2 steps cannot be had" in again.out
    assert "scores at other lengths and gradients before and after added" in again.out
    assert json.loads(later.read_text()) == json.loads(at_once.read_text())
    assert "added" not in command("train", *options, *asked, "out=later").out
    more = (*options, *asked[:1], "record.lengths=[12]", "out=later")
    other = command("train", *more, "runtime.attention=plain")
    assert other.code == 0
    assert "scores at other lengths not added to scores.json: " in other.out
    shutil.rmtree(folders[1] / "checkpoints")
    assert "the checkpoint of step 4 is gone" in command("train", *more).out
    assert json.loads(later.read_text()) == json.loads(at_once.read_text())


def test_all_that_is_scored_is_of_the_same_weights_and_has_the_same_lines(command: Command, tmp_path: Path) -> None:
    options = ("data=mqar", "data.tokens=[4000,400,400]", *TINY, "budget.context=64", "optimizer.ema=0.9")
    assert command("train", *options, "record.lengths=[64]", "record.gradients_every=4").code == 0
    (folder,) = (tmp_path / "runs").iterdir()
    scores = json.loads((folder / "scores.json").read_text())
    (at,) = scores["lengths"]
    assert {key: at[key] for key in scores["test"]} == scores["test"]
    assert any(skill["lines"] for skill in at["skills"].values())
    run = load(folder)  # of the average
    corpus = load_corpus(parse_option("data", run.config["data"], "data"), run.tokenizer, str(tmp_path / ".cache"))
    objective = objectives.build(parse_option("objective", run.config["objective"], "objective"))
    feed = Feed(corpus, objective, run.model.topology.traits, batch_size=4, context=64, splits=["validation"])
    (task,) = feed.evaluation("validation", 1)
    assert gradients_of(run.model, task, torch.device("cpu")) == pytest.approx(scores["gradients"]["final"], rel=1e-4)


class Said(NamedTuple):
    logits: Tensor


class Last(Head):
    def __init__(self) -> None:
        nn.Module.__init__(self)
        self.out = nn.Linear(4, 300)

    def forward(self, x: Tensor) -> Any:
        return self.out(x)


class Bigram(nn.Module):
    """A model that compiles in no time."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(300, 4)
        self.head = Last()

    def read(self, tokens: Tensor, **rest: Any) -> tuple[Tensor, dict[str, Tensor]]:
        return self.table(tokens), {}

    def forward(self, tokens: Tensor, **rest: Any) -> Said:
        return Said(self.head(self.read(tokens)[0]))


def test_scoring_compiles_nothing_unless_it_is_asked_to(text: Path, tmp_path: Path) -> None:
    corpus = load_corpus(Option("text", {"path": str(text)}), Option("bytes"), str(tmp_path / "cache"))
    traits = topologies.get("decoder_only").traits
    feed = Feed(corpus, objectives.build(Option("causal")), traits, batch_size=4, context=16, splits=["validation"])
    machinery = Machinery("cpu", "float32", "fused", True, 1, torch.__version__)
    compilations: list[int] = []

    def backend(graph: Any, inputs: Any) -> Any:
        compilations.append(1)
        return graph.forward

    model = Bigram()
    model.compile(backend=backend)
    eager = score(model, feed, "validation", machinery, batches=1)
    assert not compilations
    assert score(model, feed, "validation", machinery, batches=1, compiled=True).loss == pytest.approx(eager.loss)
    assert compilations


def test_norms_by_sublayer_add_up_to_those_of_the_parameters() -> None:
    model = build_model(parse_model(composed("model/size=tiny")["model"]), 50, 0)
    assert gradient_norms(model) == {}
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    total = sum(parameter.numel() for parameter in model.parameters())
    assert sum(norm**2 for norm in gradient_norms(model, 3.0).values()) == pytest.approx(9 * total)
    assert unclipped(5.0, None) == unclipped(0.5, 1.0) == unclipped(None, 1.0) == 1.0
    assert unclipped(5.0, 1.0) == pytest.approx(5.0)
