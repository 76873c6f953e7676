import pytest
import torch
from torch import Tensor, nn

from tests.reference.compare import assert_equal, assert_equal_gradients, gradients, noise, randomise
from zoo.norm import norms
from zoo.option import Option

WIDTH = 6
EPS = (1e-12, 1e-5, 1e-2)


class NaiveRMSNorm(nn.RMSNorm):
    """x / √(mean(x²) + eps) · g, number by number in float64."""

    def forward(self, x: Tensor) -> Tensor:
        rows = []
        for row in x.double().flatten(0, -2):
            square = sum(value * value for value in row) / len(row)
            rows += [value / (square + self.eps) ** 0.5 * self.weight[i] for i, value in enumerate(row)]
        return torch.stack(rows).view(x.shape)


class NaiveLayerNorm(nn.LayerNorm):
    """(x − mean) / √(mean((x − mean)²) + eps) · g + b, number by number in float64."""

    def forward(self, x: Tensor) -> Tensor:
        rows = []
        for row in x.double().flatten(0, -2):
            mean = sum(row) / len(row)
            variance = sum((value - mean) ** 2 for value in row) / len(row)
            for i, value in enumerate(row):
                y = (value - mean) / (variance + self.eps) ** 0.5 * self.weight[i]
                rows.append(y if self.bias is None else y + self.bias[i])
        return torch.stack(rows).view(x.shape)


def assert_equal_norms(option: Option, reference: nn.Module) -> None:
    """On rows with a mean of their own and sizes from 0.03 to 30, so that the mean and eps matter."""
    ours = norms.build(option, WIDTH)
    randomise(ours)
    reference.load_state_dict(ours.state_dict())  # torch has the same names
    x = ((noise(2, 3, WIDTH) + 0.5) * torch.logspace(-1.5, 1.5, 6).view(2, 3, 1)).requires_grad_()
    y = x.detach().clone().requires_grad_()
    probe = noise(2, 3, WIDTH, seed=2)
    outputs, wanted = ours(x), reference(y)
    assert_equal(outputs, wanted)
    (outputs * probe).sum().backward()
    (wanted * probe).sum().backward()
    assert_equal_gradients(gradients(ours), gradients(reference))
    for of_x, of_y in zip(x.grad.flatten(0, 1), y.grad.flatten(0, 1), strict=True):
        assert_equal_gradients({"x": of_x}, {"x": of_y})


@pytest.mark.parametrize("reference", [nn.RMSNorm, NaiveRMSNorm])
@pytest.mark.parametrize("eps", EPS)
def test_rmsnorm_equals_torch_and_a_loop(eps: float, reference: type[nn.RMSNorm]) -> None:
    assert_equal_norms(Option("rmsnorm", {"eps": eps}), reference(WIDTH, eps=eps))


@pytest.mark.parametrize("reference", [nn.LayerNorm, NaiveLayerNorm])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("eps", EPS)
def test_layernorm_equals_torch_and_a_loop(eps: float, bias: bool, reference: type[nn.LayerNorm]) -> None:
    assert_equal_norms(Option("layernorm", {"eps": eps, "bias": bias}), reference(WIDTH, eps=eps, bias=bias))
