"""Logits of some positions at a time are the logits of all: the same loss, the same gradients, less memory."""

from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from tests.helpers import OPTIONS, TOPOLOGIES, VOCABULARY, build, draw, files, model_node, noise, option, real_of
from zoo.data.batch import PairBatch, TextBatch
from zoo.data.special import Special
from zoo.model import Model
from zoo.objective import Task, objectives
from zoo.option import Option
from zoo.topology import topologies
from zoo.training import blocks
from zoo.training.evaluate import evaluate
from zoo.training.forward import Blocks, Forward, Terms, Whole
from zoo.training.logits import block_logits, whole_logits
from zoo.training.loop import Step, fit
from zoo.training.optimizer.sgd import SGD
from zoo.training.schedule.constant import Constant

SPECIAL = Special.after(VOCABULARY)
CPU = torch.device("cpu")
SMOOTHING, Z = 0.1, 0.01


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """16 positions each, so that a batch has several and the last one is not full."""
    monkeypatch.setattr(blocks, "WIDTHS", 1)
    monkeypatch.setattr(blocks, "SMALL", 0)


def batch(objective: str, topology: str) -> Task:
    """42 positions, padded and packed where the objective reads text."""
    asker = objectives.build(Option(objective))
    real = real_of([21, 13], 21, "right")
    tokens, documents = draw(2, 21), torch.tensor([[0] * 9 + [1] * 12] * 2)
    made = TextBatch(tokens, real, documents) if "text" in asker.reads else PairBatch(tokens, real, tokens, real)
    traits = topologies.get(option("topology", topology)["name"]).traits
    return asker.prepare(made, SPECIAL, traits, lambda length, each: torch.rand(2, length, each))


def model(head: str = "linear", embedding: str = "plain", topology: str = "decoder_only", **changes: object) -> Model:
    node = model_node(head=head, embedding=embedding, topology=topology, **changes)
    return build(node, vocabulary=SPECIAL.mask + 1)


def in_blocks(built: Model) -> Callable[..., Forward]:
    return partial(Blocks, read=built.read)


def found(
    built: Model, forward: Callable[..., Forward], task: Task, autocast: torch.dtype | None = None
) -> tuple[Terms, dict[str, Tensor]]:
    """The terms of a task and the gradients of its objective, which is scaled as a loop does it."""
    built.zero_grad(set_to_none=True)
    terms = forward(built, CPU, SMOOTHING, Z, autocast)(task)
    (terms.objective / 7).backward()
    return terms, {name: one.grad for name, one in built.named_parameters() if one.grad is not None}


SERVED = [
    (objective, next(name for name in TOPOLOGIES if serves(topologies.get(option("topology", name)["name"]).traits)))
    for objective in files("objective")
    for serves in [objectives.get(objective).serves]
]


@pytest.mark.parametrize("embedding", OPTIONS["embedding"])
@pytest.mark.parametrize("head", OPTIONS["head"])
@pytest.mark.parametrize(("objective", "topology"), SERVED)
def test_losses_and_gradients_are_those_of_all_logits(objective: str, topology: str, head: str, embedding: str) -> None:
    built = model(head, embedding, topology, norm="none").double()  # norms take their statistics in float32
    task = batch(objective, topology)
    (plain, whole), (terms, cut) = found(built, Whole, task), found(built, in_blocks(built), task)
    assert int((task.weights > 0).sum()) % 16
    for one, other in ((plain.objective, terms.objective), (plain.nats, terms.nats), (plain.output_z, terms.output_z)):
        torch.testing.assert_close(other, one, rtol=1e-12, atol=0)
    assert whole.keys() == cut.keys()
    for name, gradient in whole.items():
        torch.testing.assert_close(cut[name], gradient, rtol=1e-12, atol=1e-12, msg=name)


@pytest.mark.parametrize("dtype", [None, torch.bfloat16, torch.float16])
def test_in_fewer_bits_they_are_so_up_to_rounding(dtype: torch.dtype | None) -> None:
    built, task = model("transform"), batch("causal", "decoder_only")
    (plain, whole), (terms, cut) = found(built, Whole, task, dtype), found(built, in_blocks(built), task, dtype)
    bound = 1e-5 if dtype is None else 2e-2
    torch.testing.assert_close(terms.objective, plain.objective, rtol=bound, atol=0)
    assert terms.objective.dtype == torch.float32
    for name, gradient in whole.items():
        assert cut[name].dtype == gradient.dtype
        torch.testing.assert_close(cut[name], gradient, rtol=0, atol=bound * float(gradient.abs().max()), msg=name)


def test_what_stands_where_nothing_is_scored_is_never_looked_at() -> None:
    built, task = model(), batch("causal", "decoder_only")
    strange = Task(task.inputs, task.targets.masked_fill(task.weights == 0, -100), task.weights)
    assert found(built, in_blocks(built), strange)[0].objective == found(built, in_blocks(built), task)[0].objective


class Largest(TorchDispatchMode):
    """The most numbers that a tensor had which an operation gave."""

    numbers = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        result = func(*args, **(kwargs or {}))
        for one in result if isinstance(result, tuple | list) else (result,):
            if isinstance(one, Tensor):
                self.numbers = max(self.numbers, one.numel())
        return result


def test_no_tensor_is_as_large_as_the_logits_of_all_positions() -> None:
    built = build(model_node(n_layers=1), vocabulary=1000)
    task = Task({"tokens": draw(2, 40)}, draw(2, 40, seed=1), torch.ones(2, 40))
    sizes = {}
    for forward in (Whole, in_blocks(built)):
        with Largest() as largest:
            found(built, forward, task)
        sizes[forward] = largest.numbers
    assert sizes.popitem()[1] == 16 * 1000
    assert sizes.popitem()[1] == 80 * 1000


@pytest.mark.parametrize("dtype", [None, torch.bfloat16])
def test_scores_are_those_of_all_logits(dtype: torch.dtype | None) -> None:
    built, lengths = model("transform"), torch.ones(SPECIAL.mask + 1, dtype=torch.long)
    tasks = [batch("causal", "decoder_only"), Task({"tokens": draw(3, 30)}, draw(3, 30, seed=2), torch.ones(3, 30))]
    plain, cut = (
        evaluate(built, tasks, lengths, device=CPU, autocast=dtype, logits_of=one)
        for one in (whole_logits, block_logits)
    )
    assert cut.loss == pytest.approx(plain.loss, rel=1e-6 if dtype is None else 1e-2)
    assert (cut.tokens, cut.accuracy) == (plain.tokens, pytest.approx(plain.accuracy, abs=0 if dtype is None else 0.1))


def test_to_score_no_tensor_is_as_large_as_the_logits_of_all_positions() -> None:
    built = build(model_node(n_layers=1), vocabulary=1000)
    task = Task({"tokens": draw(2, 40)}, draw(2, 40, seed=1), torch.ones(2, 40))
    with Largest() as largest:
        evaluate(built, [task], torch.ones(1000, dtype=torch.long), device=CPU, logits_of=block_logits)
    assert largest.numbers == 16 * 1000


def curve(built: Model, forward: Callable[..., Forward], autocast: torch.dtype | None = None) -> list[Step]:
    """Updates of two micro-batches with unequal weights."""
    micro = [batch("causal", "decoder_only"), Task({"tokens": draw(1, 30)}, draw(1, 30, seed=2), torch.ones(1, 30))]
    setting = {"steps": 4, "seed": 0, "device": CPU, "label_smoothing": SMOOTHING, "output_z": Z, "autocast": autocast}
    return list(fit(built, SGD(built, lr=0.1), Constant(warmup=0), lambda step: micro, forward=forward, **setting))


def test_a_run_is_the_same_with_dropout_accumulation_and_auxiliary_losses() -> None:
    curves = []
    for cut in (False, True):
        built = model(dropout=0.2, ffn=option("ffn", "moe"))
        curves.append(curve(built, in_blocks(built) if cut else Whole))
    for one, other in zip(*curves, strict=True):
        assert one.auxiliary.keys() == other.auxiliary.keys() >= {"output_z", "balance"}
        for value, again in ((one.loss, other.loss), (one.grad_norm, other.grad_norm), *_both(one, other)):
            assert value == pytest.approx(again, rel=1e-5)


def _both(one: Step, other: Step) -> list[tuple[float, float]]:
    return [(value, other.auxiliary[name]) for name, value in one.auxiliary.items()]


def test_frozen_weights_of_a_head_get_no_gradient() -> None:
    built, task = model("transform"), batch("causal", "decoder_only")
    built.head.out.weight.requires_grad_(False)
    gradients = found(built, in_blocks(built), task)[1]
    assert "head.out.weight" not in gradients
    assert "head.out.bias" in gradients


@pytest.mark.parametrize("head", OPTIONS["head"])
@torch.no_grad()
def test_a_head_takes_every_position_by_itself(head: str) -> None:
    built = model(head, dropout=0.5).train().head.double()
    hidden = noise(2, 9, 16).double()
    cut = torch.cat([built(one) for one in hidden.flatten(0, 1)[None].split(5, dim=1)], 1)
    torch.testing.assert_close(cut.view(2, 9, -1), built(hidden), rtol=1e-12, atol=1e-12)
