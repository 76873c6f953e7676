"""Everything computes on an accelerator what it computes on the processor; run by test_accelerator.py, in a process of
its own, where the accelerator is pretended."""

import json
from contextlib import nullcontext
from dataclasses import is_dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.accelerator.pretended import DEVICE, Pretended, move
from tests.helpers import EVERY_OPTION, OPTIONS, PRESETS, draw, model, real_of
from zoo.command.compose import compose
from zoo.config import plain
from zoo.jobs.attention import attention
from zoo.jobs.generate import generate
from zoo.jobs.score import score
from zoo.jobs.train import train
from zoo.jobs.translation import translation
from zoo.mixer.backend import BACKENDS
from zoo.model import Model

pytestmark = pytest.mark.unchecked  # the shapes are those of the laws, which check them
TINY = (
    "model/size=tiny",
    "model.d_model=16",
    "budget.steps=4",
    "budget.batch_size=4",
    "budget.context=16",
    "budget.evaluate_batches=2",
    "record.checkpoint_every=2",
    "schedule.warmup=1",
    "runtime.threads=1",
)
TEXT = ("data=text", "data.path=text.txt")
PAIRS = ("data=toy_translation", "data.tokens=[2000,300,300]", "data.sentences=4", "data.shortest=0")
SPEAK = ("generate.prompt='the dog'", "generate.max_new_tokens=6")
CAUSAL = [SPEAK, (*SPEAK, "generate.samples=2", "generate.top_k=9"), (*SPEAK, "generate.beams=3")]
MASKED = [("generate.prompt='the [MASK] sees'",)]
TIMES = ("seconds", "per_second", "mib")


@pytest.fixture(autouse=True)
def _on_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """There, `module.to` would make two weights of one that is shared, since these tensors are of another class."""
    to = nn.Module.to

    def moved(self: nn.Module, *args: Any, **kwargs: Any) -> nn.Module:
        if args and not isinstance(args[0], torch.dtype) and torch.device(args[0]).type == DEVICE.type:
            move(self)
            return self
        return to(self, *args, **kwargs)

    monkeypatch.setattr(nn.Module, "to", moved)


def test_tensors_of_both_kinds_do_not_meet() -> None:
    with Pretended():
        a = torch.ones(3, device=DEVICE)
        assert (a + 1).device == (a * torch.tensor(2.0)).device == DEVICE
        assert a[torch.tensor([0])].item() == a.cpu()[0] == 1
        with pytest.raises(RuntimeError, match=r"aten::add.* got tensors on pretended and on cpu, of \[\(3,\)\]"):
            a + torch.ones(3)


def objective(built: Model, inputs: dict[str, Tensor]) -> Tensor:
    """A number that every logit and every auxiliary loss of the model is in."""
    output = built(**inputs)
    return output.logits.square().mean() + sum(output.auxiliary.values())


def asked_of(built: Model) -> dict[str, Tensor]:
    """Tokens with padding, and a source where one is read."""
    inputs = {"tokens": draw(2, 12), "padding": real_of([12, 7], 12, "right")}
    if built.topology.traits.reads_source:
        inputs |= {"source": draw(2, 9, seed=5), "source_padding": real_of([9, 4], 9, "right")}
    return inputs


def gradients(built: Model, inputs: dict[str, Tensor]) -> dict[str, Tensor]:
    """Of every parameter, brought back."""
    built.zero_grad()
    objective(built, inputs).backward()
    found = {name: p.grad for name, p in built.named_parameters() if p.grad is not None}
    assert {grad.device for grad in found.values()} == {inputs["tokens"].device}
    return {name: grad.cpu() for name, grad in found.items()}


def continued(built: Model, inputs: dict[str, Tensor]) -> Tensor:
    """Logits of a text that is read in three goes, and turned around in between."""
    rest = {name: value for name, value in inputs.items() if name.startswith("source")}
    state = built.start(2, 20)
    built(inputs["tokens"], state=state, **rest)
    state.reorder(torch.tensor([1, 0], device=inputs["tokens"].device))
    built(inputs["tokens"][:, :1], state=state)
    return built(inputs["tokens"][:, :3], state=state).logits.cpu()


def same_there(built: Model, backend: str = "plain") -> None:
    """Gradients, and logits by a state where the model has one, are those of the processor."""
    built.attention = backend
    inputs, steps = asked_of(built), built.topology.traits.generates
    expected, text = gradients(built, inputs), continued(built, inputs) if steps else None
    move_and = {name: value.to(DEVICE) for name, value in inputs.items()}
    built.to(DEVICE)
    for name, found in gradients(built, move_and).items():
        torch.testing.assert_close(found, expected[name], msg=lambda told, name=name: f"{name}: {told}")
    if text is not None:
        torch.testing.assert_close(continued(built, move_and), text)


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset(name: str) -> None:
    built = model(name)
    with Pretended():
        same_there(built)


@pytest.mark.parametrize(("axis", "name"), EVERY_OPTION)
def test_every_option(axis: str, name: str) -> None:
    built = model(**{axis: name})
    with Pretended():
        same_there(built)


@pytest.mark.parametrize(
    ("backend", "name"), list(product([one for one in BACKENDS if one != "plain"], OPTIONS["mixer"]))
)
def test_every_backend(backend: str, name: str) -> None:
    built = model(mixer=name)
    with Pretended():
        same_there(built, backend)


def told(folder: Path) -> list[Any]:
    """What the run wrote down of itself, but for times."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{key: value for key, value in line.items() if not any(one in key for one in TIMES)} for line in lines]


def flat(result: Any) -> list[Any]:
    """Every value in it, in order."""
    if is_dataclass(result):
        result = vars(result)
    if isinstance(result, dict):
        result = list(result.values())
    return [value for inner in result for value in flat(inner)] if isinstance(result, list | tuple) else [result]


def evaluated(run: Path, device: str, *overrides: str) -> dict[str, Any]:
    return plain(
        compose([f"run={run}", f"runtime.device={device}", "runtime.threads=1", *overrides], config="evaluate")
    )


@pytest.mark.parametrize(
    "words",
    [
        (*TEXT, "model=llama"),
        (*TEXT, "model=mixtral", "runtime.logits=blocks"),
        (*TEXT, "model=gpt2", "model.dropout=0.1", "budget.accumulate=2", "optimizer=muon", "optimizer.ema=0.9"),
        (*TEXT, "model=modern", "runtime.checkpoint_activations=true", "objective.output_z=0.1"),
        (*TEXT, "model=bert", "objective=masked"),
        (*PAIRS, "model=transformer_2017", "objective=seq2seq", "budget.context=32"),
        ("data=toy_roles", "data.tokens=[2000,300,300]", "budget.context=64", "model=bert", "objective=tagging"),
    ],
    ids=lambda words: next(word for word in reversed(words) if word.startswith(("model=", "objective="))),
)
def test_a_run_and_what_is_done_with_it(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text.txt").write_text("".join(f"the dog {i} sees the {'big' if i % 3 else 'small'} cat. " for i in range(80)))
    results = {}
    for device in ("cpu", "pretended"):
        with Pretended() if device == "pretended" else nullcontext():
            node = plain(compose([*TINY, *words, f"out={device}", f"runtime.device={device}"]))
            run = train(node, {}, [])
            result: list[Any] = [told(run), score(evaluated(run, device, "batches=1"))]
            if "data=text" in words:
                ways = MASKED if "model=bert" in words else [*CAUSAL, (*CAUSAL[0], f"generate.draft={run}")]
                result += [[one.text for one in generate(evaluated(run, device, *way))] for way in ways]
            if "model=modern" in words:
                attention(evaluated(run, device, "attention.text='the dog sees'"))
            if "objective=seq2seq" in words:
                result.append(translation(evaluated(run, device, "translation.pairs=4"))["splits"])
        results[device] = result
    there, here = (flat(results[device]) for device in ("pretended", "cpu"))
    assert [one for one in there if not isinstance(one, float)] == [one for one in here if not isinstance(one, float)]
    assert [one for one in there if isinstance(one, float)] == pytest.approx(
        [one for one in here if isinstance(one, float)], rel=1e-4
    )
