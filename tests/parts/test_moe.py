"""A mixture of experts: each token by itself through its k best, balance that means the same for every k."""

from typing import Any

import pytest
import torch
from torch import Tensor

from tests.helpers import (
    build,
    call,
    close,
    context,
    draw,
    model_node,
    noise,
    option,
    part,
    plain_sequence,
    randomise,
    real_of,
    refusal,
)
from zoo.ffn.moe import MixtureOfExperts
from zoo.option import Option
from zoo.sequence import Sequence

EXPERTS = 4


def moe(**values: Any) -> MixtureOfExperts:
    built: MixtureOfExperts = part(
        "ffn", "moe", **({"expert": Option("relu", {"d_ff": 8}), "experts": EXPERTS} | values)
    )
    return randomise(built)


@torch.no_grad()
def scored(scores: Tensor, **values: Any) -> dict[str, Tensor]:
    """The losses for tokens with these router scores (N, E): the router reads them off the first E features."""
    built = moe(**({"balance": 1.0} | values))
    built.router.weight.copy_(torch.eye(EXPERTS, 16))
    x = torch.nn.functional.pad(scores, (0, 16 - EXPERTS))[None]
    return built(x, context(plain_sequence(len(scores))))[1]


EVEN = torch.eye(EXPERTS).repeat(4, 1)
"""Each expert is the favourite equally often."""


@pytest.mark.parametrize(("k", "renormalize"), [(1, False), (2, False), (2, True), (4, True)])
@pytest.mark.parametrize("padding", [False, True])
def test_a_mixture_is_a_loop_over_tokens_in_float64(k: int, renormalize: bool, padding: bool) -> None:
    built = moe(k=k, renormalize=renormalize, balance=0.3, router_z=0.7)
    x, real = noise(2, 6, 16), real_of([6, 3] if padding else [6, 6], 6, "left")
    y, losses = built(x, context(Sequence.of(draw(2, 6), real if padding else None)))
    wanted, share, mass, z = torch.zeros(2, 6, 16).double(), [0.0] * EXPERTS, [0.0] * EXPERTS, 0.0
    for b, t in real.nonzero().tolist():
        scores = built.router.weight.double() @ x[b, t].double()
        p = (scores - scores.logsumexp(0)).exp().tolist()
        best = sorted(range(EXPERTS), key=lambda e: -p[e])[:k]
        total = sum(p[e] for e in best) if renormalize else 1.0
        for e in best:
            up, down = built.experts[e].up.weight.double(), built.experts[e].down.weight.double()
            wanted[b, t] += p[e] / total * (down @ (up @ x[b, t].double()).clamp(min=0))
            share[e] += 1 / k
        mass = [a + b for a, b in zip(mass, p, strict=True)]
        z += scores.logsumexp(0).item() ** 2
    count = int(real.sum())
    balance = EXPERTS * sum(f / count * m / count for f, m in zip(share, mass, strict=True))
    assert close(y.double(), wanted)
    assert losses["balance"].item() == pytest.approx(0.3 * balance, rel=1e-5)
    assert losses["router_z"].item() == pytest.approx(0.7 * z / count, rel=1e-5)


@pytest.mark.parametrize("k", [1, 2, 4])
def test_the_balance_loss_of_even_routing_is_one_for_every_k(k: int) -> None:
    assert scored(EVEN, k=k, renormalize=False)["balance"].item() == pytest.approx(1.0, abs=1e-5)


def test_the_balance_loss_of_one_expert_for_all_is_the_number_of_experts() -> None:
    """Scores (8, 0, 0, 0): a softmax of a softmax would give 1.9."""
    scores = torch.tensor([[8.0, 0.0, 0.0, 0.0]]).expand(10, -1)
    assert scored(scores, k=1, renormalize=False)["balance"].item() == pytest.approx(4 * 0.99899, abs=1e-3)


def test_scores_shifted_by_a_constant_change_nothing_but_the_z_loss() -> None:
    built, x, seen = moe(router_z=1.0), noise(1, 9, 16), context(plain_sequence(9))
    x[..., 0] = 1.0  # a feature that is always 1: its weights shift all scores alike
    y, losses = built(x, seen)
    with torch.no_grad():
        built.router.weight[:, 0] -= 5
    shifted, others = built(x, seen)
    assert close(y, shifted)
    assert losses["balance"].item() == pytest.approx(others["balance"].item(), rel=1e-5)
    assert losses["router_z"].item() != pytest.approx(others["router_z"].item(), rel=0.1)


def test_nothing_is_dropped_when_all_tokens_choose_one_expert() -> None:
    built = moe(k=1, renormalize=False)
    with torch.no_grad():
        built.router.weight.zero_()
        built.router.weight[2, 0] = 50.0
    x = noise(1, 64, 16)
    x[..., 0] = 1.0
    y, _ = built(x, context(plain_sequence(64)))
    alone, _ = built.experts[2](x, context(plain_sequence(64)))
    assert close(y, alone)


@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_padding_is_never_routed_and_in_no_statistic(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    built = build(model_node(ffn=option("ffn", "moe") | {"router_z": 0.1}))
    routed: list[int] = []
    losses = MixtureOfExperts._losses

    def count(self: MixtureOfExperts, scores: Tensor, probabilities: Tensor, chosen: Tensor) -> dict[str, Tensor]:
        routed.append(len(chosen))
        return losses(self, scores, probabilities, chosen)

    monkeypatch.setattr(MixtureOfExperts, "_losses", count)
    tokens = draw(3, 10)
    width = round(10 / (1 - share))
    real = real_of([10] * 3, width, "left")
    padded = draw(3, width, seed=9).masked_scatter(real, tokens)
    alone, together = call(built, tokens), call(built, padded, padding=real)
    assert routed == [30] * len(routed)
    assert close(together.logits[real], alone.logits.flatten(0, 1))
    for name in ("balance", "router_z"):
        assert together.auxiliary[name].item() == pytest.approx(alone.auxiliary[name].item(), rel=1e-5)


def test_the_losses_of_all_layers_and_stacks_are_summed() -> None:
    one, two = (build(model_node(ffn="moe", n_layers=depth)) for depth in (1, 2))
    assert call(two, draw(2)).auxiliary["balance"] > 1.5 * call(one, draw(2)).auxiliary["balance"]
    both = build(model_node(ffn="moe", n_layers=1, topology="encoder_decoder"))
    assert call(both, draw(2)).auxiliary["balance"] > 1.5 * call(one, draw(2)).auxiliary["balance"]


@pytest.mark.parametrize(("balance", "router_z"), [(0.0, 0.0), (0.5, 0.0), (0.0, 0.5), (0.5, 0.5)])
def test_each_coefficient_scales_its_own_loss_and_off_costs_nothing(balance: float, router_z: float) -> None:
    full = scored(EVEN, balance=1.0, router_z=1.0)
    losses = scored(EVEN, balance=balance, router_z=router_z)
    wanted = {"balance": balance, "router_z": router_z}
    assert losses.keys() == {name for name, value in wanted.items() if value}
    assert all(losses[name].item() == pytest.approx(wanted[name] * full[name].item()) for name in losses)


def test_a_router_that_sends_each_token_to_one_expert_gets_a_gradient_and_moves() -> None:
    built = moe(k=1, renormalize=False, balance=0.0)
    x, wanted, seen = noise(4, 8, 16), noise(4, 8, 16, seed=1), context(plain_sequence(8, rows=4))
    start = built.router.weight.detach().clone()
    optimizer = torch.optim.Adam(built.parameters(), lr=0.01)
    norms = []
    for _ in range(20):
        optimizer.zero_grad()
        (built(x, seen)[0] - wanted).square().mean().backward()
        norms.append(built.router.weight.grad.norm().item())
        optimizer.step()
    assert min(norms) > 1e-4
    assert not close(built.router.weight, start, 0.05)


def test_a_renormalised_single_gate_is_refused() -> None:
    assert "model.ffn.renormalize=true with k=1 makes every weight 1" in refusal(ffn=option("ffn", "moe") | {"k": 1})


@pytest.mark.parametrize("k", [0, 9, -1])
def test_more_experts_for_a_token_than_there_are_is_refused(k: int) -> None:
    assert refusal(ffn=option("ffn", "moe") | {"k": k}) == f"model.ffn.k={k} must be between 1 and experts=8"


def test_no_experts_at_all_are_refused_as_such() -> None:
    assert refusal(ffn=option("ffn", "moe") | {"experts": 0}) == "model.ffn.experts=0 must be at least 1"


def test_an_expert_that_is_a_mixture_is_refused() -> None:
    assert "an expert must be a dense ffn" in refusal(ffn=option("ffn", "moe") | {"expert": option("ffn", "moe")})


@pytest.mark.parametrize("name", ["relu", "gelu", "swiglu"])
def test_any_dense_ffn_is_an_expert(name: str) -> None:
    built = build(model_node(ffn=option("ffn", "moe") | {"expert": option("ffn", name)}))
    assert {type(expert) for expert in built.topology.stack.blocks[0].ffn.experts} == {type(part("ffn", name))}


def test_the_same_batch_gives_the_same_bits_twenty_times() -> None:
    built = moe()
    x, seen = noise(2, 50, 16), context(plain_sequence(50, rows=2))
    runs = []
    for _ in range(20):
        y, losses = built(x, seen)
        runs.append([y, *torch.autograd.grad(y.square().sum() + losses["balance"], list(built.parameters()))])
    assert all(torch.equal(a, b) for run in runs for a, b in zip(run, runs[0], strict=True))


def test_the_balance_loss_is_of_the_batch_it_saw_so_equal_halves_have_the_mean_of_their_own() -> None:
    """Statistics are those of one forward pass: two passes over halves average two products, not two factors."""
    favourites = torch.eye(EXPERTS) * 8
    halves = [favourites[:2].repeat(4, 1), favourites[2:].repeat(4, 1)]
    whole = scored(torch.cat(halves), k=1, renormalize=False)["balance"]
    apart = [scored(half, k=1, renormalize=False)["balance"].item() for half in halves]
    assert whole.item() == pytest.approx(1.0, abs=1e-3)
    assert apart == pytest.approx([2.0, 2.0], abs=1e-2)


def test_the_router_scores_in_float32_whatever_autocast_says() -> None:
    moe = randomise(part("ffn", "moe", expert=Option("relu"), router_z=1.0))
    x, seen = noise(2, 8, 16), context(plain_sequence(8, rows=2))
    _, plain = moe(x, seen)
    with torch.autocast("cpu", torch.bfloat16):
        _, cast = moe(x, seen)
    assert plain.keys() == cast.keys() == {"balance", "router_z"}
    assert all(torch.equal(plain[name], cast[name]) for name in plain)
