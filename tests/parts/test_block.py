"""How sublayers meet the residual stream, and which norm closes a stack."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from tests.helpers import OPTIONS, TOPOLOGIES, close, context, draw, logits, model, noise, plain_sequence
from zoo.block import Block
from zoo.model import Model
from zoo.norm import Norm
from zoo.roles import Role, role_of
from zoo.topology.stack import Stack


@torch.no_grad()
def silence(model: Model) -> Model:
    """Zero all that is written into a residual stream."""
    for module in model.modules():
        for name, parameter in module.named_parameters(recurse=False):
            if role_of(module, name, parameter)[0] is Role.RESIDUAL:
                parameter.zero_()
    return model


def stacks(model: Model) -> list[Stack]:
    return [module for module in model.modules() if isinstance(module, Stack)]


def run(block: Block) -> tuple[torch.Tensor, torch.Tensor]:
    """A stream with mean 5, before and after one block, which has something to read."""
    x, seen = noise(2, 6, 16) + 5, context(plain_sequence(6))
    cross = replace(seen, causal=False, memory=noise(2, 6, 16, seed=1), memo={})
    return x, block(x, replace(seen, cross=cross))[0]


@pytest.mark.parametrize("topology", ["decoder_only", "encoder_decoder"])
@pytest.mark.parametrize("norm", OPTIONS["norm"])
@pytest.mark.parametrize("name", OPTIONS["block"])
def test_a_block_of_silent_sublayers_is_the_identity_or_a_norm(name: str, norm: str, topology: str) -> None:
    """Pre-norm adds to the stream itself; post-norm normalises the sum."""
    block = silence(model(block=name, norm=norm, topology=topology)).topology.stack.blocks[0]
    x, y = run(block)
    if block.closes:
        expected = x
        for one in (block.mixer_norm, block.cross_norm, block.ffn_norm):
            expected = expected if one is None else one(block.alpha * expected)
        assert close(y, expected, 1e-4)
    else:
        assert torch.equal(y, x)


@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize("name", OPTIONS["block"])
def test_every_stack_ends_with_exactly_one_norm(name: str, topology: str) -> None:
    built = model(block=name, topology=topology, norm="layernorm")
    for stack in stacks(built):
        assert isinstance(stack.closing_norm, nn.Identity if stack.blocks[-1].closes else Norm)
        inside = sum(isinstance(module, Norm) for module in stack.blocks.modules())
        assert inside == sum(block.writes for block in stack.blocks)
    hidden = []
    built.head.register_forward_pre_hook(lambda module, arguments: hidden.append(arguments[0]))
    logits(built, draw(2))
    assert close(hidden[0].mean(-1), torch.zeros(()).expand(hidden[0].shape[:2]))
    assert close(hidden[0].square().mean(-1), torch.ones(hidden[0].shape[:2]), 1e-2)


@pytest.mark.parametrize("norm", ["layernorm", "rmsnorm"])
def test_the_size_of_an_unnormalised_stream_never_reaches_the_logits(norm: str) -> None:
    built = model(block="pre_norm", norm=norm, n_layers=1)
    base = logits(built, draw(2))
    last = built.topology.stack.blocks[-1]
    last.register_forward_hook(lambda module, arguments, output: (10 * output[0], output[1]))
    assert close(logits(built, draw(2)), base, 1e-3)


def test_sublayers_follow_each_other_mixer_cross_ffn() -> None:
    order: list[str] = []
    block = model("transformer_2017").topology.stack.blocks[0]
    for name in ("mixer", "cross", "ffn"):
        getattr(block, name).register_forward_pre_hook(lambda module, arguments, name=name: order.append(name))
    built = model("transformer_2017")
    built.topology.stack.blocks[0] = block
    logits(built, draw(1))
    assert order == ["mixer", "cross", "ffn"]


def test_pre_norm_normalises_what_a_sublayer_reads_and_post_norm_what_it_leaves() -> None:
    for name in OPTIONS["block"]:
        block = model(block=name, norm="layernorm").topology.stack.blocks[0]
        read: list[torch.Tensor] = []
        block.mixer.register_forward_pre_hook(lambda module, arguments, read=read: read.append(arguments[0]))
        x, y = run(block)
        if block.closes:
            assert torch.equal(read[0], x)
            assert close(y.mean(-1), torch.zeros(2, 6))
        else:
            assert torch.equal(read[0], block.mixer_norm(x))
            assert y.mean() > 1
