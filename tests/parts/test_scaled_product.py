"""Scores with their mask, and the gradients that are written by hand, against autograd's."""

import pytest
import torch

from zoo.mixer.scaled_product import scaled_product


@pytest.mark.parametrize("rows", [1, 6])
@pytest.mark.parametrize("learns", [False, True])
def test_values_and_gradients_are_those_of_the_formula(rows: int, learns: bool) -> None:
    torch.manual_seed(0)
    added = torch.randn(rows, 3, 5, dtype=torch.float64, requires_grad=learns)
    q, k = (torch.randn(6, length, 4, dtype=torch.float64, requires_grad=True) for length in (3, 5))
    torch.testing.assert_close(scaled_product(added, q, k, 0.3), added + 0.3 * q @ k.mT, rtol=1e-14, atol=1e-14)
    assert torch.autograd.gradcheck(lambda *tensors: scaled_product(*tensors, 0.3), (added, q, k))


def test_one_mask_for_all_gets_the_sum_of_their_gradients() -> None:
    added = torch.zeros(3, 5, requires_grad=True)
    q, k = torch.randn(6, 3, 4), torch.randn(6, 5, 4)
    scaled_product(added, q, k, 0.3).sum().backward()
    torch.testing.assert_close(added.grad, torch.full((3, 5), 6.0))


def test_mixed_dtypes_under_autocast_give_gradients_of_their_own_dtypes() -> None:
    q, k = torch.randn(2, 3, 4, requires_grad=True), torch.randn(2, 5, 4).bfloat16().requires_grad_()
    with torch.autocast("cpu", torch.bfloat16):
        product = scaled_product(torch.zeros(1, 3, 5), q, k, 0.3)
    assert product.dtype == torch.bfloat16
    product.float().square().sum().backward()
    assert q.grad is not None
    assert q.grad.dtype == torch.float32
    assert k.grad is not None
    assert k.grad.dtype == torch.bfloat16
    wide = q.detach().clone().requires_grad_()
    (0.3 * wide @ k.detach().float().mT).square().sum().backward()
    torch.testing.assert_close(q.grad, wide.grad, rtol=0.03, atol=0.03)
