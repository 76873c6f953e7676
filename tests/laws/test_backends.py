"""Attention written out = attention by torch's fused kernel, outputs and gradients, whatever is masked."""

from collections.abc import Iterator
from itertools import combinations

import pytest
import torch
from torch import Tensor

from tests.helpers import (
    LENGTH,
    MIXER_AND_POSITION,
    OPTIONS,
    SOURCE_LENGTH,
    TOPOLOGIES,
    call,
    close,
    draw,
    model,
    real_of,
    shared,
)
from zoo.mixer.backend import BACKENDS
from zoo.model import Model


def masks_of(model: Model) -> dict[str, Tensor]:
    """One of every mask the model takes. Of five rows one is whole, two are padded, one is nothing but padding, and in
    the last a document has no real token."""
    place = torch.arange(LENGTH).expand(5, -1)
    documents = (place >= 23).long() + (place >= 31).long()
    real = torch.cat([real_of([LENGTH, 12], LENGTH, "left"), real_of([21, 0], LENGTH, "right"), documents[4:] != 1])
    masks = {"padding": real, "documents": documents}
    if model.topology.traits.takes_prefix:
        masks["prefix"] = place % 23 < 5
    if model.topology.traits.reads_source:
        lengths = [SOURCE_LENGTH, 1, 4, 0, 3]
        masks["source_padding"] = real_of(lengths, SOURCE_LENGTH, "left")
    return masks


def subsets(masks: dict[str, Tensor]) -> Iterator[dict[str, Tensor]]:
    for size in range(len(masks) + 1):
        for names in combinations(masks, size):
            yield {name: masks[name] for name in names}


def forward_and_backward(model: Model, backend: str, masks: dict[str, Tensor]) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Logits, and the gradients of a loss over all of them."""
    sources = {"source": draw(5, SOURCE_LENGTH, seed=3)} if model.topology.traits.reads_source else {}
    out = call(model, draw(5), backend=backend, **sources, **masks).logits
    loss = (out.float() * torch.randn(out.shape, generator=torch.Generator().manual_seed(1))).mean()
    return out, torch.autograd.grad(loss, list(model.parameters()))


def assert_backends_agree(model: Model, masks: dict[str, Tensor]) -> None:
    expected, expected_gradients = forward_and_backward(model, "plain", masks)
    for backend in sorted({*BACKENDS} - {"plain"}):
        out, gradients = forward_and_backward(model, backend, masks)
        assert out.isfinite().all()
        assert close(out, expected), (backend, list(masks))
        assert all(close(g, e) for g, e in zip(gradients, expected_gradients, strict=True)), (backend, list(masks))


@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize("mixer", OPTIONS["mixer"])
def test_backends_agree_under_every_combination_of_masks(mixer: str, topology: str) -> None:
    built = shared(mixer=mixer, topology=topology, n_layers=1)
    for masks in subsets(masks_of(built)):
        assert_backends_agree(built, masks)


@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize(("mixer", "position"), MIXER_AND_POSITION)
def test_backends_agree_for_every_position_scheme(mixer: str, position: str, topology: str) -> None:
    built = shared(mixer=mixer, position=position, topology=topology)
    assert_backends_agree(built, masks_of(built))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize("mixer", OPTIONS["mixer"])
def test_half_precision_stays_finite_under_all_masks_at_once(
    mixer: str, topology: str, backend: str, dtype: torch.dtype
) -> None:
    built = model(mixer=mixer, topology=topology, n_layers=1)
    masks = masks_of(built)
    expected, _ = forward_and_backward(built, backend, masks)
    out, gradients = forward_and_backward(built.to(dtype), backend, masks)
    assert out.dtype == dtype
    off = out.float() - expected
    assert off.square().mean().sqrt() < 0.02
    assert off.abs().max() < 0.1 * len(built.topology.stack.blocks)  # rounding adds up by layer; a pattern has two
    assert all(gradient.isfinite().all() for gradient in gradients)
