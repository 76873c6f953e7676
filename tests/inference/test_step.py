"""A decoding step as a function of tensors, which is what is compiled, = the plain one, before any compiler sees it."""

from itertools import cycle
from typing import Any

import pytest
import torch

from tests.helpers import CAUSAL_TOPOLOGIES, OPTIONS, close, draw, model, option, real_of, with_window
from zoo.inference.compiled import _attributes, _kind, _Step, _tensors, exported
from zoo.model import Model
from zoo.state import ModelState


def read(built: Model, length: int, capacity: int, padded: bool) -> ModelState:
    """A state that holds a text of two rows, after a prefix or a source where the model takes one."""
    state, inputs = built.start(2, capacity), {}
    if padded:
        inputs |= {"padding": real_of([length, 3], length, "left")}
    if built.topology.traits.reads_source:
        inputs |= {
            "source": draw(2, length - 1, seed=4),
            "source_padding": real_of([length - 1, 2], length - 1, "right"),
        }
    if built.topology.traits.takes_prefix:
        inputs |= {"prefix": torch.ones(2, length, dtype=torch.bool)}
    built(draw(2, length), state=state, **inputs)
    return state


@pytest.mark.parametrize("topology", CAUSAL_TOPOLOGIES)
@pytest.mark.parametrize(("position", "padded"), list(zip(OPTIONS["position"], cycle([True, False]), strict=False)))
@pytest.mark.parametrize("mixer", OPTIONS["mixer"])
@torch.no_grad()
def test_the_step_as_a_function_of_tensors_is_the_plain_step(
    mixer: str, position: str, topology: str, padded: bool
) -> None:
    """Rows, prefixes and sources of different lengths; windows shorter than the text."""
    built = model(mixer=with_window(mixer, 4), position=position, topology=topology)
    one, other = read(built, 7, 16, padded), read(built, 7, 16, padded)
    kind, step = _kind(one), _Step(built, one)
    for place in range(3):
        token = draw(2, 1, seed=place)
        found, *_ = step(token[:, 0], torch.empty(one.history.length, 0), _tensors(one))
        one.advance(1)
        assert close(found, built(token, state=other).logits[:, -1])
    assert _kind(one) == kind
    for (_, name, a), (_, _, b) in zip(_attributes(one), _attributes(other), strict=True):
        held = slice(0, one.history.length)
        assert name not in ("positions", "real") or torch.equal(a[:, held], b[:, held])


@torch.no_grad()
def test_a_program_serves_one_device_and_one_dtype() -> None:
    built = model()
    kinds = set()
    for place in ({"dtype": torch.float32}, {"dtype": torch.bfloat16}, {"device": "meta"}):
        built.to(**place)
        state = built.start(2, 9)
        built(draw(2, 3).to(state.history.positions.device), state=state)
        kinds.add(_kind(state))
    assert len(kinds) == 3


@pytest.mark.unchecked
@torch.no_grad()
def test_one_recorded_step_serves_every_length_capacity_and_source() -> None:
    built = model(mixer=with_window("sliding", 4), position="alibi", topology="encoder_decoder")
    program = exported(built, read(built, 7, 16, True)).module()
    for length, capacity in ((5, 9), (13, 30)):
        one, other = read(built, length, capacity, True), read(built, length, capacity, True)
        token = draw(2, 1)
        found, *_ = program(token[:, 0], torch.empty(length, 0), _tensors(one))
        assert close(found, built(token, state=other).logits[:, -1])


@pytest.mark.unchecked
@pytest.mark.parametrize(
    "position", [{"name": "rope"}, {"name": "rope", "layout": "interleaved", "fraction": 0.5}, {"name": "rope_ntk"}]
)
@torch.no_grad()
def test_a_recorded_step_turns_queries_and_keys_as_the_plain_one(position: dict[str, Any]) -> None:
    """It turns halves of one position, where a plain pass turns wholes."""
    built = model(position={**option("position", position["name"]), **position})
    program = exported(built, read(built, 7, 16, True)).module()
    one, other = read(built, 7, 16, True), read(built, 7, 16, True)
    token = draw(2, 1)
    found, best, total = program(token[:, 0], torch.empty(7, 0), _tensors(one))
    wanted = built(token, state=other).logits[:, -1]
    assert close(found, wanted)
    assert torch.equal(best, wanted.argmax(-1))
    assert close(total, wanted.sum())
    assert all(close(a.keys[:, :, :8], b.keys[:, :, :8]) for a, b in zip(one.states(), other.states(), strict=True))
