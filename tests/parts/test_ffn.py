"""Dense per-position mixing: the equations, and equal size whatever the shape."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from tests.helpers import (
    OPTIONS,
    close,
    common,
    context,
    noise,
    option,
    part,
    plain_sequence,
    randomise,
    refusal,
)
from zoo.ffn import ffns
from zoo.ffn.dense import hidden_width
from zoo.schema import parse_option


def weights(d_model: int, name: str) -> int:
    ffn = part("ffn", name, shared=common(d_model=d_model))
    return sum(parameter.numel() for parameter in ffn.parameters())


@pytest.mark.parametrize("d_model", [64, 128, 256, 512])
def test_a_gated_ffn_is_as_large_as_a_plain_one_within_one_percent(d_model: int) -> None:
    plain = weights(d_model, "relu")
    assert plain == weights(d_model, "gelu") == 8 * d_model**2
    assert weights(d_model, "swiglu") == pytest.approx(plain, rel=0.01)


def test_the_width_of_a_gated_ffn_is_rounded_to_the_nearest_multiple() -> None:
    assert hidden_width(128, None, 8 / 3, 4) == 340
    assert hidden_width(128, None, 8 / 3, 1) == 341
    assert hidden_width(128, None, 8 / 3, 64) == 320
    assert hidden_width(8, None, 0.01, 4) == 4
    assert hidden_width(128, 7, 8 / 3, 64) == 7


@pytest.mark.parametrize(("key", "value"), [("d_ff", 0), ("ratio", 0.0), ("ratio", -1.0), ("multiple_of", 0)])
@pytest.mark.parametrize("name", ["relu", "gelu", "swiglu"])
def test_a_width_below_one_is_refused(name: str, key: str, value: float) -> None:
    assert refusal(ffn=option("ffn", name) | {key: value}) == f"model.ffn.{key}={value} must be above 0"


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": lambda x: x * (x > 0),
    "gelu": lambda x: x * (1 + torch.erf(x / 2**0.5)) / 2,
    "gelu_tanh": lambda x: x * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3))) / 2,
    "swiglu": lambda x: x / (1 + torch.exp(-x)),
}


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_an_ffn_is_its_equation_in_float64(name: str, bias: bool) -> None:
    values = {key: value for key, value in option("ffn", name).items() if key not in ("name", "bias")}
    ffn = randomise(part("ffn", option("ffn", name)["name"], **values, bias=bias))
    x, act = noise(2, 5, 16), ACTIVATIONS[name]
    matrix = {name: parameter.double() for name, parameter in ffn.named_parameters()}

    def project(layer: str, x: Tensor) -> Tensor:
        return x @ matrix[f"{layer}.weight"].T + (matrix[f"{layer}.bias"] if bias else 0)

    gated = "gate.weight" in matrix
    hidden = act(project("gate", x.double())) * project("up", x.double()) if gated else act(project("up", x.double()))
    y, losses = ffn(x, context(plain_sequence(5)))
    assert close(y.double(), project("down", hidden), 1e-4)
    assert losses == {}


@pytest.mark.parametrize(
    "name", [name for name in OPTIONS["ffn"] if ffns.get(option("ffn", name)["name"]).per_position]
)
def test_no_position_sees_another(name: str) -> None:
    ffn = randomise(ffns.build(parse_option("ffn", option("ffn", name), "model.ffn"), common())).double()
    x = noise(2, 5, 16).double()  # the answers reach 38, where float32 rounds by more than the tolerance
    together, _ = ffn(x, context(plain_sequence(5)))
    for t in range(5):
        alone, _ = ffn(x[:, t : t + 1], context(plain_sequence(1)))
        assert close(together[:, t], alone[:, 0])
