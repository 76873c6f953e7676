"""Normalisation: statistics in float32, the epsilon that was asked for, in every norm there is."""

import pytest
import torch

from tests.helpers import OPTIONS, close, model, noise, option, part, randomise, refusal
from zoo.norm import Norm, norms

NAMES = ["layernorm", "rmsnorm", "none"]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", NAMES)
def test_a_norm_is_computed_in_float32_and_rounded_once(name: str, dtype: torch.dtype) -> None:
    """The gain is applied before the result is rounded to the dtype that came in."""
    norm = randomise(norms.get(name)(16)).to(dtype)
    x = (3 * noise(4, 5, 16) + 1).to(dtype)
    exact = norm.float()(x.float())
    assert norm.to(dtype)(x).dtype == dtype
    assert torch.equal(norm(x), exact.to(dtype))


@pytest.mark.parametrize("gain", [torch.float32, torch.bfloat16])
def test_rmsnorm_rounds_once_after_the_gain_and_is_nearer_to_float32_than_rounding_before_it(gain: torch.dtype) -> None:
    """Half a unit in the last place, against twice that for rounding before and after."""
    norm = randomise(norms.get("rmsnorm")(64)).to(gain)
    x = (3 * noise(40, 64)).to(torch.bfloat16)
    unit = x.double() / (x.double().square().mean(-1, keepdim=True) + norm.eps).sqrt()
    exact = unit * norm.weight.double()
    before = (norm.weight * unit.to(torch.bfloat16)).to(torch.bfloat16)
    once, twice = ((one.double() - exact).abs() / exact.abs() for one in (norm(x), before))
    half = torch.finfo(torch.bfloat16).eps / 2
    assert once.max() <= half * (1 + 1e-4)
    assert half * 1.2 < twice.max() <= 2 * half + half**2
    assert once.square().mean() < 0.7 * twice.square().mean()


@pytest.mark.parametrize("name", ["layernorm", "rmsnorm"])
def test_statistics_of_large_half_precision_numbers_do_not_overflow(name: str) -> None:
    x = torch.full((1, 16), 3e4, dtype=torch.float16) * torch.tensor([1.0, -1.0], dtype=torch.float16).repeat(8)
    y = norms.get(name)(16).half()(x)
    assert close(y.float().abs(), torch.ones(1, 16), 1e-2)


@pytest.mark.parametrize("name", ["layernorm", "rmsnorm"])
def test_the_epsilon_of_the_config_reaches_every_norm_of_the_model(name: str) -> None:
    built = model(
        "transformer_2017",
        norm=option("norm", name) | {"eps": 0.5},
        block="pre_norm",
        embedding=option("embedding", "plain") | {"norm": True},
        head="transform",
    )
    found = [module for module in built.modules() if isinstance(module, Norm)]
    assert len(found) == 2 * 2 + 2 * 3 + 2 + 2 + 1  # sublayers, closing norms, embeddings, head
    assert {norm.eps for norm in found} == {0.5}


@pytest.mark.parametrize("name", ["layernorm", "rmsnorm"])
def test_the_epsilon_stands_inside_the_root(name: str) -> None:
    x = torch.tensor([[1.0, -1.0] * 8])  # mean 0, mean square 1
    assert close(norms.get(name)(16, eps=3.0)(x), x / 2)


@pytest.mark.parametrize("name", ["layernorm", "rmsnorm"])
def test_a_negative_epsilon_is_refused(name: str) -> None:
    assert refusal(norm=option("norm", name) | {"eps": -1e-5}) == "model.norm.eps=-1e-05 must be at least 0"


@pytest.mark.parametrize("name", OPTIONS["norm"])
def test_a_norm_starts_neutral(name: str) -> None:
    built = model(norm=name).topology.stack.blocks[0].mixer_norm
    for key, parameter in built.named_parameters():
        assert torch.equal(parameter, torch.zeros(16) if key == "bias" else torch.ones(16))


def test_no_norm_is_the_identity() -> None:
    x = noise(2, 3, 16)
    assert norms.get("none")(16)(x) is x
    assert not list(norms.get("none")(16).parameters())


def test_a_model_may_change_its_norm_from_layer_to_layer() -> None:
    """The closing norm is that of the last layer, the embedding's that of the first."""
    pattern = {
        "name": "pattern",
        "layers": ["a", "b"],
        "a": option("norm", "layernorm"),
        "b": option("norm", "rmsnorm"),
    }
    stack = model(norm=pattern, embedding=option("embedding", "plain") | {"norm": True}).topology.stack
    kinds = [type(block.mixer_norm).__name__ for block in stack.blocks]
    assert [type(stack.embedding.norm).__name__, *kinds, type(stack.closing_norm).__name__] == [
        "LayerNorm",
        "LayerNorm",
        "RMSNorm",
        "RMSNorm",
    ]


def test_a_norm_outside_a_model_has_any_width() -> None:
    assert norms.get("rmsnorm")(5)(noise(2, 5)).shape == (2, 5)
    assert part("head", "transform", 7).norm.width == 16
