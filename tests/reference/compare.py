"""What it means that two models are equal: the same outputs, and the same gradient of everything that has one."""

from collections.abc import Mapping
from functools import cache

import torch
from torch import Tensor, nn

from tests.reference.weights import Table, copy_in, find
from zoo.assembly import build_model
from zoo.command.compose import compose
from zoo.common import Common
from zoo.config import parse_model, plain
from zoo.experiment import ModelConfig
from zoo.model import Model
from zoo.norm import norms
from zoo.option import Option

TOLERANCE = 1e-5
FLOOR = 0.03
VOCABULARY = 23
SIZES = ("model.d_model=16", "model.n_layers=2", "model.n_heads=4", "budget.context=12")


@cache
def parsed(*overrides: str) -> ModelConfig:
    """What the command line would make of the overrides, in a size for tests."""
    return parse_model(plain(compose([*SIZES, *overrides]))["model"])


def build(*overrides: str) -> Model:
    """Our model of those overrides."""
    return build_model(parsed(*overrides), VOCABULARY, seed=0).eval()


@torch.no_grad()
def randomise(module: nn.Module) -> None:
    """Weights that hide nothing: no gain is 1, no bias 0, no attention flat, no activation in its linear range."""
    generator = torch.Generator().manual_seed(0)
    for name, parameter in module.named_parameters():
        drawn = torch.randn(parameter.shape, generator=generator)
        if parameter.ndim > 1:
            parameter.copy_(drawn * parameter.shape[-1] ** -0.5)
        else:
            parameter.copy_((0 if name.endswith("bias") else 1) + 0.3 * drawn)


def noise(*shape: int, seed: int = 1) -> Tensor:
    """Standard normal numbers: inputs, and the weights of outputs in a scalar loss."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def real_positions(side: str | None, *lengths: int) -> Tensor | None:
    """Rows with so many real positions, padded to the longest on that side; with `holes`, padding stands between."""
    if side is None:
        return None
    real = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    if side == "holes":
        return real[:, torch.randperm(max(lengths), generator=torch.Generator().manual_seed(0))]
    return real if side == "right" else real.flip(1)


def common(d_model: int, n_heads: int) -> Common:
    """What a part gets that is built by itself."""
    return Common(
        d_model=d_model,
        n_heads=n_heads,
        dropout=0.0,
        bias=True,
        norm=lambda width: norms.build(Option("layernorm"), width),
        layer=0,
        depth=1,
        causal=True,
    )


def copy_all(model: nn.Module, tensors: Mapping[str, Tensor], table: Table) -> None:
    """Copy weights into our model, with no number of theirs left over."""
    copy_in(model, tensors, table)
    ours, theirs = (sum(tensor.numel() for tensor in side) for side in (model.parameters(), tensors.values()))
    assert ours == theirs, f"ours has {ours} parameters, theirs {theirs}"


def gradient(tensor: Tensor) -> Tensor:
    """Its gradient; zeros where the loss does not depend on it."""
    return torch.zeros_like(tensor) if tensor.grad is None else tensor.grad


def gradients(module: nn.Module) -> dict[str, Tensor]:
    """The gradient of each parameter by its name, a shared one once."""
    return {name: gradient(parameter) for name, parameter in module.named_parameters()}


def assert_equal(ours: Tensor, theirs: Tensor) -> None:
    """Equal outputs, in float32."""
    torch.testing.assert_close(ours, theirs.float(), rtol=0, atol=TOLERANCE)


def assert_equal_gradients(ours: Mapping[str, Tensor], theirs: Mapping[str, Tensor]) -> None:
    """Equal gradients, each relative to its own largest entry. A gradient of no size, such as that of a key's bias,
    which softmax cancels, is rounding of larger ones: it is held to FLOOR of the largest of all."""
    assert ours.keys() == theirs.keys()
    sizes = {name: tensor.abs().max().item() for name, tensor in theirs.items()}
    largest = max(sizes.values())
    assert largest > 0, "no gradient at all"
    for name, tensor in ours.items():
        assert tensor.shape == theirs[name].shape, name
        error = (tensor - theirs[name]).abs().max().item() / max(sizes[name], FLOOR * largest)
        assert error <= TOLERANCE, f"the gradient of {name} differs by {error:.1e} of its size"


def assert_equal_parameter_gradients(model: nn.Module, reference: nn.Module, table: Table) -> None:
    """Equal gradients of every parameter of ours."""
    ours, theirs = gradients(model), gradients(reference)
    assert_equal_gradients(ours, {name: find(table, name).of(theirs) for name in ours})
