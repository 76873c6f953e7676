"""Weights, influence and ranks are those of the computation itself."""

import math

import pytest
import torch
from torch import Tensor

from tests.helpers import OPTIONS, TOPOLOGIES, close, draw, model
from tests.laws.decay_mixer import register_decay
from zoo.ability import Ability
from zoo.inference.heads import effective_rank, entropy, heads
from zoo.inference.influence import influence
from zoo.inference.looking import Held, Looked, look
from zoo.model import Model

T, S = 12, 7


def inputs(built: Model) -> dict[str, Tensor]:
    return {"source": draw(1, S, seed=5)} if built.topology.traits.reads_source else {}


@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize("mixer", OPTIONS["mixer"])
def test_rows_sum_to_one_the_future_is_zero_and_the_logits_are_the_models(mixer: str, topology: str) -> None:
    built = model(mixer=mixer, topology=topology)
    tokens, read = draw(1, T), inputs(built)
    seen = look(built, tokens, **read)
    prefix = {"prefix": torch.ones(1, T, dtype=torch.bool)} if built.topology.traits.takes_prefix else {}
    assert close(seen.logits, built(tokens, **read, **prefix).logits[0])
    names = [one.name for one in seen.looked]
    assert len(names) == len(set(names))
    assert len(seen.held) == sum(one.kind == "self" for one in seen.looked)
    for one in seen.looked:
        assert close(one.weights.sum(-1), torch.ones(one.weights.shape[:2]))
        causal = built.topology.generating is not None and not prefix and one.stack != "encoder"
        if one.kind == "self" and causal:
            assert (one.weights.triu(1) == 0).all()
    kinds = {(one.stack, one.kind) for one in seen.looked}
    both = {("encoder", "self"), ("decoder", "self"), ("decoder", "cross")}
    assert kinds == (both if read else {("", "self")})


def test_the_weights_are_those_of_a_naive_loop_in_float64() -> None:
    built = model(mixer="gqa", position="none", n_layers=1).double()
    tokens = draw(1, T)
    (one,) = look(built, tokens).looked
    block = built.topology.stack.blocks[0]
    x = block.mixer_norm(built.topology.stack.embedding(tokens))[0]
    q, k = block.mixer.q(x), block.mixer.k(x)
    width = block.mixer.head_dim
    for head in range(4):
        for t in range(T):
            group = head // 2
            scores = [
                sum((q[t, head * width + i] * k[s, group * width + i]).item() for i in range(width)) / math.sqrt(width)
                for s in range(t + 1)
            ]
            shares = [math.exp(score) for score in scores]
            wanted = torch.tensor([share / sum(shares) for share in shares])
            assert close(one.weights[head, t, : t + 1].double(), wanted.double(), 1e-6)


def test_numbers_of_heads_and_layers_in_closed_form() -> None:
    even = torch.full((2, 8, 8), 1 / 8)
    for one in heads(Looked("", 0, "self", even)):
        assert one.entropy == pytest.approx(math.log(8))
        assert one.of_most == pytest.approx(1)
        assert one.previous == pytest.approx(1 / 8)
    before = torch.eye(8).roll(1, 0)
    before[0] = torch.eye(8)[0]
    (one,) = heads(Looked("", 0, "self", before[None]))
    assert (one.previous, one.same, one.entropy) == (pytest.approx(1), pytest.approx(1 / 8), pytest.approx(0))
    assert entropy(torch.tensor([[1.0, 0.0]])).item() == 0
    assert effective_rank(Held("", 0, torch.eye(6))) == pytest.approx(6)
    assert effective_rank(Held("", 0, torch.ones(6, 3))) == pytest.approx(1)


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_influence_is_the_slope_of_the_best_logit(topology: str) -> None:
    built = model(topology=topology).double()
    tokens, read = draw(1, 5), inputs(built)
    own, other = influence(built, tokens, **read)
    if built.topology.generating is not None and not built.topology.traits.takes_prefix:
        assert (own.triu(1) == 0).all()
    assert (own.diagonal() > 0).all()
    assert (other is None) == (not read)
    before = {name: one.clone() for name, one in built.named_parameters()}
    again, _ = influence(built, tokens, **read)
    assert torch.equal(own, again)
    assert all(torch.equal(before[name], one) and one.grad is None for name, one in built.named_parameters())


def test_influence_agrees_with_finite_differences() -> None:
    built = model(n_layers=1, position="none").double()
    tokens = torch.tensor([[1, 2, 3]])  # each once, so that a row of the table is a position
    own, _ = influence(built, tokens)
    table, step = built.topology.out.weight, 1e-3  # norm and softmax are in float32
    with torch.no_grad():
        best = built(tokens).logits[0].argmax(-1)
        for s in range(3):
            slopes = []
            for i in range(table.shape[1]):
                ends = []
                for sign in (1, -1):
                    table[tokens[0, s], i] += sign * step
                    hidden = built(tokens).logits[0]
                    ends.append(hidden[torch.arange(3), best].clone())
                    table[tokens[0, s], i] -= sign * step
                slopes.append((ends[0] - ends[1]) / (2 * step))
            assert close(torch.stack(slopes).norm(dim=0), own[:, s], 1e-2)


def test_a_mixer_without_weights_leaves_none_and_still_has_an_influence(monkeypatch: pytest.MonkeyPatch) -> None:
    built = model(mixer=register_decay(monkeypatch, frozenset(Ability) - {Ability.WEIGHTS}))
    assert look(built, draw(1, T)).looked == []
    own, _ = influence(built, draw(1, T))
    assert torch.equal(own, own.diagonal().diag())
