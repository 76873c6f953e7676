import cmath
import math

import pytest
import torch
from torch import Tensor

from tests.reference.compare import (
    VOCABULARY,
    assert_equal,
    assert_equal_gradients,
    build,
    common,
    gradient,
    gradients,
    noise,
    randomise,
)
from zoo.context import Context
from zoo.mixer.backend import BACKENDS
from zoo.option import Option
from zoo.position import Position, positions
from zoo.sequence import Sequence

PLACES = torch.tensor([[0, 1, 2, 3, 30], [0, 0, 0, 1, 2]])  # of each row its own: a gap, and left padding


def scheme(name: str, d_model: int, **values: float | str) -> Position:
    return positions.build(Option(name, values), common(d_model, 1))


@pytest.mark.parametrize("width", [6, 7])
@pytest.mark.parametrize("base", [10000.0, 100.0])
def test_sinusoidal_table_equals_the_formula_of_2017(base: float, width: int) -> None:
    x = noise(2, 5, width)
    wanted = x.double()
    for b, row in enumerate(PLACES.tolist()):
        for t, place in enumerate(row):
            for j in range(width):
                angle = place / base ** ((j - j % 2) / width)
                wanted[b, t, j] += math.cos(angle) if j % 2 else math.sin(angle)
    assert_equal(scheme("sinusoidal", width, base=base).embed(x, Sequence(PLACES)), wanted)


def pairs(layout: str, turning: int) -> list[tuple[int, int]]:
    """The features that turn together."""
    if layout == "half":
        return [(i, i + turning // 2) for i in range(turning // 2)]
    return [(2 * i, 2 * i + 1) for i in range(turning // 2)]


def rotated(x: Tensor, layout: str, turning: int, base: float, sign: int) -> Tensor:
    """(a + bi) · exp(± i · place · base^(−2i/R)) for each pair, one complex number after the other, in float64."""
    x = x.detach()
    y = x.double()
    for b, row in enumerate(PLACES.tolist()):
        for t, place in enumerate(row):
            for i, (first, second) in enumerate(pairs(layout, turning)):
                turn = cmath.exp(1j * sign * place * base ** (-2 * i / turning))
                for h in range(x.shape[1]):
                    z = complex(x[b, h, t, first], x[b, h, t, second]) * turn
                    y[b, h, t, first], y[b, h, t, second] = z.real, z.imag
    return y


@pytest.mark.parametrize("layout", ["half", "interleaved"])
@pytest.mark.parametrize(("fraction", "turning"), [(1.0, 8), (0.5, 4)])
@pytest.mark.parametrize("base", [10000.0, 50.0])
def test_rope_equals_the_rotation_of_complex_numbers(base: float, fraction: float, turning: int, layout: str) -> None:
    q, k = noise(2, 3, 5, 8).requires_grad_(), noise(2, 1, 5, 8, seed=2).requires_grad_()
    rope = scheme("rope", 8, base=base, fraction=fraction, layout=layout)
    sequence = Sequence(PLACES)
    for x, y in zip((q, k), rope.rotate(q, k, Context(sequence, sequence, True, rope, BACKENDS["plain"])), strict=True):
        probe = noise(*y.shape, seed=3)
        assert_equal(y, rotated(x, layout, turning, base, 1))
        (y * probe).sum().backward()
        # the gradient of a rotation is the opposite rotation
        assert_equal_gradients({"x": gradient(x)}, {"x": rotated(probe, layout, turning, base, -1)})


@pytest.mark.parametrize("backend", sorted(BACKENDS))
def test_interleaved_rope_is_half_rope_with_permuted_projections(backend: str) -> None:
    half, interleaved = (
        build("model=llama", "model.bias=true", "model.mixer.n_kv_heads=2", f"model.position.layout={layout}")
        for layout in ("half", "interleaved")
    )
    randomise(interleaved)

    def permuted(name: str, tensor: Tensor) -> Tensor:
        """Rows 0, 2, 4, ... of each head, then rows 1, 3, 5, ..., of q and k."""
        if ".mixer.q." not in name and ".mixer.k." not in name:
            return tensor
        heads = tensor.unflatten(0, (-1, 4))
        return torch.cat([heads[:, 0::2], heads[:, 1::2]], dim=1).flatten(0, 1)

    half.load_state_dict({name: permuted(name, tensor) for name, tensor in interleaved.state_dict().items()})
    tokens = torch.randint(VOCABULARY, (3, 9), generator=torch.Generator().manual_seed(0))
    outputs = []
    for model in (half, interleaved):
        model.attention = backend
        outputs.append(model(tokens).logits)
        (outputs[-1] * noise(3, 9, VOCABULARY)).sum().backward()
    assert_equal(*outputs)
    theirs = {name: permuted(name, tensor) for name, tensor in gradients(interleaved).items()}
    assert_equal_gradients(gradients(half), theirs)
