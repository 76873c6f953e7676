"""Every parameter gets a gradient."""

from typing import Any

import pytest
import torch
import torch.nn.functional as F

from tests.helpers import (
    EVERY_OPTION,
    MIXER_AND_POSITION,
    OPTIONS,
    PRESETS,
    TOPOLOGIES,
    TWO_PARTS,
    Part,
    build,
    call,
    draw,
    model_node,
    shared,
)
from zoo.model import Model


def idle(model: Model) -> set[str]:
    """Parameters that get no gradient from one batch."""
    sources = {"source": draw(8, seed=2)} if model.topology.traits.reads_source else {}
    out = call(model, draw(8), **sources)
    loss = F.cross_entropy(out.logits.flatten(0, 1), draw(8, seed=1).flatten()) + sum(out.auxiliary.values())
    named = dict(model.named_parameters())
    gradients = torch.autograd.grad(loss, list(named.values()), allow_unused=True)
    return {name for name, gradient in zip(named, gradients, strict=True) if gradient is None or not gradient.any()}


def assert_every_parameter_gets_a_gradient(base: str, **changes: Any) -> None:
    """From one of three sets of initial values: a router may leave out an expert in one of them."""
    dead = idle(shared(base, **changes))
    for seed in (1, 2):
        dead = dead and dead & idle(build(model_node(base, **changes), seed=seed))
    assert not dead


@pytest.mark.parametrize("base", PRESETS)
@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_every_parameter_of_a_preset_gets_a_gradient_on_every_topology(base: str, topology: str) -> None:
    assert_every_parameter_gets_a_gradient(base, topology=topology)


@pytest.mark.parametrize(("one", "other"), TWO_PARTS, ids="-".join)
def test_every_parameter_of_two_parts_gets_a_gradient(one: Part, other: Part) -> None:
    assert_every_parameter_gets_a_gradient("modern", **dict([one, other]))


@pytest.mark.parametrize("base", ["modern", "transformer_2017"])
@pytest.mark.parametrize(("axis", "name"), EVERY_OPTION)
def test_every_parameter_of_a_part_gets_a_gradient(axis: str, name: str, base: str) -> None:
    assert_every_parameter_gets_a_gradient(base, **{axis: name})


@pytest.mark.parametrize(("mixer", "position"), MIXER_AND_POSITION)
def test_every_parameter_of_a_mixer_gets_a_gradient_with_every_position(mixer: str, position: str) -> None:
    assert_every_parameter_gets_a_gradient("modern", mixer=mixer, position=position)


@pytest.mark.parametrize("block", OPTIONS["block"])
@pytest.mark.parametrize("norm", OPTIONS["norm"])
@pytest.mark.parametrize("ffn", OPTIONS["ffn"])
def test_every_parameter_of_a_block_gets_a_gradient_with_every_norm_and_ffn(block: str, norm: str, ffn: str) -> None:
    assert_every_parameter_gets_a_gradient("modern", block=block, norm=norm, ffn=ffn)
