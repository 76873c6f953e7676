"""Where order enters: places per row, angles that stay exact, limits that are said."""

import math
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.helpers import (
    OPTIONS,
    build,
    close,
    common,
    context,
    draw,
    learned,
    logits,
    model,
    model_node,
    noise,
    option,
    part,
    plain_sequence,
    randomise,
    real_of,
    refusal,
)
from zoo.context import Context, Scores
from zoo.dropout import Dropout
from zoo.errors import UserError
from zoo.mixer.backend import BACKENDS
from zoo.position import Position, positions
from zoo.schema import parse_option
from zoo.sequence import Sequence

FAR = 4096
HALF = [torch.bfloat16, torch.float16]


@pytest.mark.parametrize("layout", ["half", "interleaved"])
@pytest.mark.parametrize("fraction", [1.0, 0.5])
def test_rope_scores_depend_only_on_distance(layout: str, fraction: float) -> None:
    rope = part("position", "rope", layout=layout, fraction=fraction)

    def scores(start: int) -> Tensor:
        sequence = Sequence(torch.arange(start, start + 6)[None])
        q, k = noise(1, 2, 1, 8), noise(1, 2, 1, 8, seed=1)
        q, k = rope.rotate(q.expand(-1, -1, 6, -1), k.expand(-1, -1, 6, -1), context(sequence, position=rope))
        return q @ k.mT

    near = scores(0)
    assert close(near, scores(100), 1e-4)
    for distance in (-3, 2):
        alike = near.diagonal(distance, 2, 3)
        assert close(alike, alike[..., :1].expand_as(alike))
    assert near.diagonal(0, 2, 3).sub(near.diagonal(3, 2, 3)[..., :1]).abs().min() > 1e-2


def test_rope_turns_nothing_at_place_zero_and_keeps_lengths() -> None:
    rope = part("position", "rope")
    q, k = noise(1, 2, 9, 8), noise(1, 1, 9, 8, seed=1)
    for x, y in zip((q, k), rope.rotate(q, k, context(plain_sequence(9), position=rope)), strict=True):
        assert torch.equal(x[:, :, 0], y[:, :, 0])
        assert close(x.norm(dim=-1), y.norm(dim=-1))
        assert not close(x[:, :, 1:], y[:, :, 1:], 0.1)


def test_rope_leaves_the_rest_of_a_fraction_still() -> None:
    rope = part("position", "rope", fraction=0.25)
    q = noise(1, 2, 9, 8)
    turned, _ = rope.rotate(q, q, context(plain_sequence(9), position=rope))
    assert torch.equal(turned[..., 2:], q[..., 2:])
    assert not close(turned[..., :2], q[..., :2], 0.1)


@pytest.mark.parametrize("dtype", [torch.float32, *HALF])
def test_rope_angles_are_exact_to_the_end_of_a_long_context_in_any_dtype(dtype: torch.dtype) -> None:
    """In half precision only the cosine is rounded: the angle itself is off by less than 0.001 everywhere."""
    rope = model().to(dtype).topology.stack.positions["rope"]
    frequencies = 10000.0 ** (-torch.arange(0, 8, 2).double() / 8)
    angles = torch.arange(FAR)[:, None] * frequencies
    waves = rope.waves(torch.zeros(1, 1, FAR, 8, dtype=dtype), context(plain_sequence(FAR), position=rope))
    for wave, exact in zip(waves, (angles.cos(), angles.sin()), strict=True):
        assert wave.dtype == dtype
        assert close(wave[0, 0].double(), exact, 1e-3 + torch.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", [torch.float32, *HALF])
def test_sinusoidal_waves_are_exact_to_the_end_of_a_long_context_in_any_dtype(dtype: torch.dtype) -> None:
    scheme = part("position", "sinusoidal").to(dtype)
    waves = scheme.embed(torch.zeros(1, FAR, 16, dtype=dtype), plain_sequence(FAR))[0].double()
    angles = torch.arange(FAR)[:, None] * 10000.0 ** (-torch.arange(0, 16, 2).double() / 16)
    assert close(waves[:, 0::2], angles.sin(), 1e-3 + torch.finfo(dtype).eps)
    assert close(waves[:, 1::2], angles.cos(), 1e-3 + torch.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", HALF)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", [name for name in OPTIONS["position"] if name != "learned"])
@torch.no_grad()
def test_places_far_out_are_as_good_as_the_first_in_any_dtype(name: str, backend: str, dtype: torch.dtype) -> None:
    """A layer in half precision differs from the one in float32 by rounding, wherever in a long context it is."""
    scheme = randomise(positions.build(parse_option("position", option("position", name), "position"), common()))
    mixer, x = randomise(part("mixer", "attention")), noise(1, 12, 16)
    for start in (0, FAR - 12):
        sequence = Sequence(torch.arange(start, start + 12)[None])
        seen = Context(sequence, sequence, True, scheme, BACKENDS[backend])
        exact = mixer.float()(scheme.float().embed(x, sequence), seen)
        half = mixer.to(dtype)(scheme.to(dtype).embed(x.to(dtype), sequence), replace(seen, memo={}))
        assert (half.float() - exact).norm() < 4 * torch.finfo(dtype).eps * exact.norm()


@pytest.mark.parametrize("name", OPTIONS["position"])
def test_no_scheme_has_a_buffer_that_a_cast_could_spoil(name: str) -> None:
    assert not list(model(position=name).buffers())


@pytest.mark.parametrize("width", [5, 127])
def test_sinusoidal_with_an_odd_width_has_one_sine_more(width: int) -> None:
    waves = part("position", "sinusoidal", shared=common(d_model=width)).embed(
        torch.zeros(1, 3, width), plain_sequence(3)
    )
    angles = torch.arange(3)[:, None] * 10000.0 ** (-torch.arange(0, width, 2).double() / width)
    assert waves.shape == (1, 3, width)
    assert close(waves[0, :, 0::2].double(), angles.sin())
    assert close(waves[0, :, 1::2].double(), angles[:, : width // 2].cos())
    built = build(model_node(position="sinusoidal", d_model=width, n_heads=1, mixer="mha"))
    assert logits(built, draw(1)).isfinite().all()


@pytest.mark.parametrize(
    "changes",
    [
        {"d_model": 5, "n_heads": 1, "mixer": "mha"},
        {"mixer": option("mixer", "mha") | {"head_dim": 7}},
        {"position": option("position", "rope") | {"fraction": 0.1}},
        {"position": option("position", "rope") | {"fraction": 0.8}},
    ],
)
def test_rope_refuses_an_odd_number_of_turning_features_and_says_what_to_change(changes: dict[str, object]) -> None:
    message = refusal(**changes)
    assert message.startswith("rope turns pairs of features, but model.position.fraction=")
    for key in ("model.d_model", "model.n_heads", "the head_dim of its mixer"):
        assert key in message


@pytest.mark.parametrize("fraction", [0.0, -0.5, 1.5])
def test_rope_refuses_a_fraction_that_is_none(fraction: float) -> None:
    position = option("position", "rope") | {"fraction": fraction}
    assert refusal(position=position) == f"model.position.fraction={fraction} must be above 0 and at most 1"


@pytest.mark.parametrize("name", ["rope", "sinusoidal"])
def test_a_base_without_a_power_is_refused(name: str) -> None:
    assert refusal(position=option("position", name) | {"base": 0.0}) == "model.position.base=0.0 must be above 0"


def test_learned_positions_beyond_the_table_are_refused_with_both_numbers() -> None:
    built = model(position=learned(8))
    assert logits(built, draw(2, 8)).isfinite().all()
    with pytest.raises(UserError, match=r"9 positions, but .* can address 8 \(model\.position\.max_positions\)"):
        logits(built, draw(2, 9))
    reader = model(position=learned(8), topology="encoder_decoder")
    with pytest.raises(UserError, match=r"9 positions, but .* can address 8"):
        logits(reader, draw(2, 4), source=draw(2, 9))


def test_learned_positions_count_places_and_not_columns() -> None:
    built = model(position=learned(8))
    assert logits(built, draw(2, 20), padding=real_of([8, 3], 20, "left")).isfinite().all()
    assert logits(built, draw(1, 16), documents=torch.tensor([[0] * 8 + [1] * 8])).isfinite().all()
    with pytest.raises(UserError, match=r"9 positions"):
        logits(built, draw(2, 20), padding=real_of([8, 9], 20, "left"))


@pytest.mark.parametrize("name", [name for name in OPTIONS["position"] if name != "learned"])
def test_a_scheme_without_a_table_has_no_limit(name: str) -> None:
    assert logits(model(position=name), draw(1, 64)).isfinite().all()


def test_layers_with_heads_of_different_width_each_turn_their_own() -> None:
    narrow, wide = option("mixer", "mha") | {"head_dim": 2}, option("mixer", "mha") | {"head_dim": 8}

    def patterned(*layers: str) -> dict[str, object]:
        return {"name": "pattern", "layers": list(layers), "narrow": narrow, "wide": wide}

    both = model(mixer=patterned("narrow", "wide"))
    tokens = draw(1, 12)
    sequence = Sequence.of(tokens)
    stack = both.topology.stack
    x = stack.embedding(tokens)
    for block in stack.blocks:  # a context of its own for each layer: nothing can be shared
        x, _ = block(x, context(sequence, position=stack.positions["rope"]))
    assert close(logits(both, tokens), both.head(stack.closing_norm(x)))


@pytest.mark.parametrize("name", OPTIONS["position"])
def test_order_reaches_the_last_token_with_every_scheme_but_none(name: str) -> None:
    """One bidirectional layer sees a set, unless positions tell it otherwise."""
    built = model(position=name, topology="encoder_only", n_layers=1)
    tokens = draw(1, 10)
    other = tokens.clone()
    other[:, 1:5] = tokens[:, 1:5].flip(1)
    assert not torch.equal(tokens, other)
    assert close(logits(built, tokens)[:, -1], logits(built, other)[:, -1], 1e-6) == (name == "none")


def test_a_scheme_is_four_identities_until_it_overrides_one() -> None:
    scheme: Position = part("position", "none")
    x, q, k = noise(1, 3, 16), noise(1, 4, 3, 4), noise(1, 2, 3, 4)
    seen = context(plain_sequence(3), position=scheme)
    assert scheme.embed(x, plain_sequence(3)) is x
    assert scheme.rotate(q, k, seen) == (q, k)
    assert scheme.bias(q, seen) is None
    given: list[Any] = []
    scores, mixed = Scores(1.0, None, Dropout(0.0)), noise(1, 4, 3, 4, seed=1)
    backend = replace(seen, attend=lambda *arguments: given.extend(arguments) or mixed)
    assert scheme.attend(q, k, k, backend, scores) is mixed
    assert all(one is other for one, other in zip(given, (q, k, k, backend, scores), strict=True))
    assert math.isclose(sum(p.numel() for p in scheme.parameters()), 0)
