"""Tokens to their experts and back: plain sums in float64, and gradients that agree with differences."""

from typing import Any

import pytest
import torch
from torch import Tensor

from tests.helpers import close, context, draw, noise, part, plain_sequence, randomise, real_of
from zoo.ffn.moe import MixtureOfExperts
from zoo.ffn.routes import Routes
from zoo.option import Option
from zoo.sequence import Sequence

EXPERTS = 4
CHOSEN = torch.tensor([[2, 0], [0, 3], [3, 2], [2, 3], [0, 2]])
"""Expert 1 gets no token."""


def mixture(name: str, **values: Any) -> MixtureOfExperts:
    built: MixtureOfExperts = part(
        "ffn", name, **({"expert": Option("swiglu", {"d_ff": 8}), "experts": EXPERTS, "balance": 0.0} | values)
    )
    return randomise(built)


def wanted(built: MixtureOfExperts, tokens: Tensor, sigmoid: bool) -> Tensor:
    """The mixture of tokens (N, D), one token after another, in the dtype of the tokens; it can be differentiated."""
    rows = []
    for x in tokens:
        scores = built.router.weight.to(x) @ x
        p = scores.sigmoid() if sigmoid else scores.exp() / scores.exp().sum()
        best = sorted(range(EXPERTS), key=lambda e: -p[e].item())[: built.k]
        total = sum(p[e] for e in best) if built.renormalize else 1.0
        rows.append(sum(p[e] / total * swiglu(built.experts[e], x) for e in best))
    return torch.stack(rows)


def swiglu(expert: Any, x: Tensor) -> Tensor:
    gate = expert.gate.weight.to(x) @ x
    return expert.down.weight.to(x) @ (gate / (1 + (-gate).exp()) * (expert.up.weight.to(x) @ x))


def gradients(y: Tensor, *wrt: Tensor) -> list[Tensor]:
    """Of Σ y², zero where y does not depend on it."""
    return list(torch.autograd.grad(y.double().square().sum(), wrt, materialize_grads=True))


def test_each_expert_gets_its_tokens_in_their_order_and_each_token_the_sum_of_its_experts() -> None:
    tokens, gates = noise(5, 3).double(), noise(5, 2, seed=1).double()
    slots = Routes(CHOSEN).dispatch(tokens)
    assert torch.equal(slots, tokens[[0, 1, 4, 0, 2, 3, 4, 1, 2, 3]])
    experts = CHOSEN.flatten().sort().values
    y = Routes(CHOSEN).combine(slots * (1 + experts[:, None]), gates)
    assert close(y, (gates * (1 + CHOSEN)).sum(1, keepdim=True) * tokens)


@pytest.mark.parametrize("k", [1, 2])
def test_the_gradients_of_both_ways_are_those_of_differences(k: int) -> None:
    routes = Routes(CHOSEN[:, :k])
    tokens, slots, gates = (noise(n, m).double().requires_grad_() for n, m in ((5, 3), (5 * k, 3), (5, k)))
    assert torch.autograd.gradcheck(routes.dispatch, tokens)
    assert torch.autograd.gradcheck(routes.combine, (slots, gates))


@pytest.mark.parametrize("name", ["moe", "moe_sigmoid"])
@pytest.mark.parametrize(("k", "renormalize"), [(1, False), (2, True), (3, True), (4, False)])
@pytest.mark.parametrize("padding", [False, True])
def test_gradients_are_those_of_a_loop_over_tokens_in_float64(
    name: str, k: int, renormalize: bool, padding: bool
) -> None:
    built = mixture(name, k=k, renormalize=renormalize)
    x, real = noise(2, 6, 16).requires_grad_(), real_of([6, 3] if padding else [6, 6], 6, "left")
    parameters = list(built.parameters())
    y, _ = built(x, context(Sequence.of(draw(2, 6), real if padding else None)))
    naive = wanted(built, x[real].double(), name == "moe_sigmoid")
    assert close(y[real].double(), naive)
    pairs = zip(gradients(y, x, *parameters), gradients(naive, x, *parameters), strict=True)
    assert all(close(ours, theirs, 1e-4 * max(1.0, theirs.abs().max().item())) for ours, theirs in pairs)


@pytest.mark.parametrize("length", [1, 3])
def test_an_expert_without_tokens_gets_a_gradient_of_zeros_and_one_token_is_enough(length: int) -> None:
    built = mixture("moe", k=1, renormalize=False)
    with torch.no_grad():
        built.router.weight.zero_()
        built.router.weight[2, 0] = 50.0
    x = noise(1, length, 16)
    x[..., 0] = 1.0
    built(x, context(plain_sequence(length)))[0].square().sum().backward()
    sizes = {e: [p.grad.abs().max().item() for p in built.experts[e].parameters()] for e in range(EXPERTS)}
    assert [e for e, values in sizes.items() if all(values)] == [2]
    assert [e for e, values in sizes.items() if not any(values)] == [0, 1, 3]


def test_a_batch_of_nothing_but_padding_is_zero_and_has_gradients_of_zero() -> None:
    built, x = mixture("moe"), noise(1, 4, 16).requires_grad_()
    y, _ = built(x, context(Sequence.of(draw(1, 4), real_of([0], 4, "left"))))
    assert not y.any()
    assert not any(one.any() for one in gradients(y, x, *built.parameters()))
    with torch.no_grad():
        assert torch.equal(built(x, context(Sequence.of(draw(1, 4), real_of([0], 4, "left"))))[0], y)


def test_bfloat16_is_as_near_to_float64_as_it_rounds() -> None:
    built, x = mixture("moe"), noise(2, 8, 16).requires_grad_()
    with torch.autocast("cpu", torch.bfloat16):
        y, _ = built(x, context(plain_sequence(8, rows=2)))
    naive = wanted(built, x.flatten(0, 1).double(), False).view(2, 8, 16)
    assert y.dtype == torch.float32
    rounding = 5 * torch.finfo(torch.bfloat16).eps
    assert (y - naive).norm() < rounding * naive.norm()
    parameters = [x, *built.parameters()]
    pairs = zip(gradients(y, *parameters), gradients(naive, *parameters), strict=True)
    assert all((ours - theirs).norm() < rounding * theirs.norm() for ours, theirs in pairs)


@pytest.mark.parametrize("length", [1, 8])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_without_gradients_the_answer_is_the_same_and_only_experts_with_tokens_are_asked(
    length: int, dtype: torch.dtype
) -> None:
    built, x, seen = mixture("moe", k=1, renormalize=False), noise(1, length, 16), context(plain_sequence(length))
    asked: list[int] = []
    for number, expert in enumerate(built.experts):
        expert.register_forward_pre_hook(lambda *_, number=number: asked.append(number))
    with torch.autocast("cpu", dtype, enabled=dtype is torch.bfloat16):
        y, _ = built(x, seen)
        assert asked == list(range(EXPERTS))
        asked.clear()
        with torch.inference_mode():
            assert torch.equal(built(x, seen)[0], y)
    assert asked == (x[0] @ built.router.weight.T).argmax(-1).unique().tolist()
