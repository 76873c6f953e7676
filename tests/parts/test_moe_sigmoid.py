"""Experts with gates of their own, and a balance loss that small scores do not escape."""

import pytest
import torch
from torch import Tensor

from tests.helpers import close, context, noise, part, plain_sequence, randomise
from zoo.ffn.moe import MixtureOfExperts
from zoo.option import Option

EXPERTS = 4


def mixture(**values: float) -> MixtureOfExperts:
    chosen = {"expert": Option("relu", {"d_ff": 8}), "experts": EXPERTS} | values
    built: MixtureOfExperts = randomise(part("ffn", "moe_sigmoid", **chosen))
    return built


@torch.no_grad()
def balance(scores: Tensor, **values: float) -> float:
    """The loss for tokens with these router scores (N, E), which the router reads off the first E features."""
    built = mixture(balance=1.0, **values)
    built.router.weight.copy_(torch.eye(EXPERTS, 16))
    x = torch.nn.functional.pad(scores, (0, 16 - EXPERTS))[None]
    return built(x, context(plain_sequence(len(scores))))[1]["balance"].item()


@pytest.mark.parametrize(("k", "renormalize"), [(1, False), (2, False), (2, True), (4, True)])
def test_a_mixture_is_a_loop_over_tokens_in_float64(k: int, renormalize: bool) -> None:
    built, x = mixture(k=k, renormalize=renormalize), noise(2, 6, 16)
    y, _ = built(x, context(plain_sequence(6)))
    wanted = torch.zeros(2, 6, 16).double()
    for b in range(2):
        for t in range(6):
            gates = (built.router.weight.double() @ x[b, t].double()).sigmoid()
            best = gates.argsort(descending=True)[:k].tolist()
            total = sum(gates[e] for e in best) if renormalize else 1.0
            for e in best:
                one, _ = built.experts[e](x[b : b + 1, t : t + 1], context(plain_sequence(1)))
                wanted[b, t] += gates[e] / total * one[0, 0].double()
    assert close(y.double(), wanted, 1e-4)


@pytest.mark.parametrize("low", [0.0, -60.0, -1000.0])
def test_shrinking_all_scores_does_not_escape_the_balance_loss(low: float) -> None:
    even = torch.eye(EXPERTS).repeat(4, 1) + low
    one_sided = torch.tensor([[1.0, 0, 0, 0]]).repeat(16, 1) * 3 + low
    assert balance(even, k=1, renormalize=False) == pytest.approx(1.0, abs=1e-5)
    assert balance(one_sided, k=1, renormalize=False) > 1.2
    assert balance(torch.full((8, EXPERTS), low)) == pytest.approx(1.0, abs=1e-5)
