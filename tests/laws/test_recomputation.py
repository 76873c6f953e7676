"""Activation checkpointing changes memory and time, never a number."""

import pytest
import torch
from torch import Tensor

from tests.helpers import OPTIONS, PRESETS, call, close, draw, model
from zoo.dropout import dropouts_of, seed_dropout
from zoo.model import Model
from zoo.topology.stack import Stack


def gradients(built: Model, recompute: bool) -> tuple[Tensor, ...]:
    """Of a loss over logits and auxiliary losses, and the logits, while dropout acts."""
    for module in built.modules():
        if isinstance(module, Stack):
            module.recompute = recompute
    seed_dropout(dropouts_of(built.train()), torch.device("cpu"), 5, 0)
    out = call(built, draw(2))
    loss = out.logits.square().mean() + sum(out.auxiliary.values())
    return out.logits, *torch.autograd.grad(loss, list(built.parameters()))


@pytest.mark.parametrize("name", PRESETS)
def test_checkpointed_activations_give_the_same_bits(name: str) -> None:
    built = model(name, dropout=0.3)
    assert all(map(torch.equal, gradients(built, False), gradients(built, True)))


@pytest.mark.parametrize("position", OPTIONS["position"])
def test_for_every_position_scheme_up_to_the_order_of_a_sum_over_layers(position: str) -> None:
    built = model(position=position, dropout=0.3)
    kept, recomputed = gradients(built, False), gradients(built, True)
    assert all(close(a, b, 1e-6) for a, b in zip(kept, recomputed, strict=True))


def test_fewer_bytes_are_kept_for_the_backward_pass() -> None:
    kept = {}
    for recompute in (False, True):
        sizes: list[int] = []
        built = model(n_layers=4)
        for module in built.modules():
            if isinstance(module, Stack):
                module.recompute = recompute

        def pack(tensor: Tensor, sizes: list[int] = sizes) -> Tensor:
            sizes.append(tensor.numel())
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            call(built.train(), draw(4))
        kept[recompute] = sum(sizes)
    assert kept[True] < 0.3 * kept[False]
