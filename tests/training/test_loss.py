import math

import pytest
import torch
import torch.nn.functional as F

from zoo.training.loss import cross_entropy


def batch(rows=2, length=5, vocabulary=7, seed=0):
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(rows, length, vocabulary, generator=generator, dtype=torch.float64)
    targets = torch.randint(vocabulary, (rows, length), generator=generator)
    weights = (torch.rand(rows, length, generator=generator) > 0.4).double()
    return logits.requires_grad_(), targets, weights


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_objective_is_torchs_cross_entropy_summed_over_scored_targets(smoothing):
    logits, targets, weights = batch()
    loss = cross_entropy(logits, targets, weights, smoothing)
    ignored = targets.masked_fill(weights == 0, -100).flatten()
    expected = F.cross_entropy(logits.flatten(0, 1), ignored, label_smoothing=smoothing, reduction="sum")
    plain = F.cross_entropy(logits.flatten(0, 1), ignored, reduction="sum")
    torch.testing.assert_close(loss.objective, expected)
    torch.testing.assert_close(loss.nats, plain)
    assert loss.weight == weights.sum()


def test_uniform_logits_cost_log_v_whatever_is_ignored():
    targets = torch.zeros(1, 8, dtype=torch.long)
    weights = torch.tensor([[1.0] * 3 + [0.0] * 5])
    loss = cross_entropy(torch.zeros(1, 8, 4), targets, weights, 0.1)
    assert float(loss.objective / loss.weight) == pytest.approx(math.log(4))


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("size", [1.0, 3e38])
def test_logits_of_unscored_targets_change_nothing_however_large(smoothing, size):
    logits, targets, weights = batch()
    logits = logits.detach().float().requires_grad_()
    strange = size * torch.randn(logits.shape, generator=torch.Generator().manual_seed(1)).sign()
    other = torch.where(weights[..., None] > 0, logits, strange).detach().requires_grad_()
    gradients = []
    for one in (logits, other):
        loss = cross_entropy(one, targets, weights.float(), smoothing)
        gradients.append((loss, *torch.autograd.grad(loss.objective, one)))
    assert gradients[0][0] == gradients[1][0]
    assert torch.equal(gradients[0][1], gradients[1][1])
    assert not gradients[1][1][weights == 0].any()


def test_targets_without_weight_may_be_any_number():
    logits, targets, weights = batch()
    strange = targets.masked_fill(weights == 0, -100)
    assert cross_entropy(logits, strange, weights) == cross_entropy(logits, targets, weights)


def test_a_batch_without_scored_targets_is_zero_with_zero_gradient():
    logits, targets, weights = batch()
    loss = cross_entropy(logits, targets, torch.zeros_like(weights), 0.1)
    (gradient,) = torch.autograd.grad(loss.objective, logits)
    assert [one.item() for one in loss] == [0, 0, 0]
    assert not gradient.any()


def test_half_precision_logits_are_summed_in_float32():
    logits, targets, weights = batch(rows=40, length=50)
    rounded = logits.detach().bfloat16()
    got = cross_entropy(rounded, targets, weights.float())
    exact = cross_entropy(rounded.double(), targets, weights)
    assert got.nats.dtype == torch.float32
    torch.testing.assert_close(got.nats.double(), exact.nats, rtol=1e-5, atol=0)
