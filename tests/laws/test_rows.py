"""A row alone = the same row in a padded batch = the same row packed with others."""

import pytest
import torch
from tests.helpers import (
    EVERY_OPTION,
    LENGTH,
    MIXER_AND_POSITION,
    SOURCE_LENGTH,
    TOPOLOGIES,
    call,
    close,
    draw,
    logits,
    model,
    real_of,
)
from torch import Tensor

from zoo.model import Model

LENGTHS = [5, LENGTH, 17]
SOURCE_LENGTHS = [SOURCE_LENGTH, 2, 6]
LAYOUTS = [("right", "left"), ("left", "right")]


def filler(real: Tensor) -> Tensor:
    """Anything may stand where there is padding."""
    return draw(*real.shape, seed=99)


def spread(texts: list[Tensor], real: Tensor) -> Tensor:
    """The texts laid into a batch, at its real places."""
    return filler(real).masked_scatter(real, torch.cat(texts))


def assert_rows_keep_apart(model: Model, side: str, source_side: str) -> None:
    """Each row by itself and in a padded batch; where a source is read, both are padded, on different sides."""
    real = real_of(LENGTHS, LENGTH + 3, side)
    texts = [draw(1, length, seed=i)[0] for i, length in enumerate(LENGTHS)]
    inputs, alone = {"padding": real}, [{} for _ in texts]
    if model.topology.reads_source:
        sources = [draw(1, length, seed=10 + i)[0] for i, length in enumerate(SOURCE_LENGTHS)]
        inputs["source_padding"] = real_of(SOURCE_LENGTHS, SOURCE_LENGTH + 4, source_side)
        inputs["source"] = spread(sources, inputs["source_padding"])
        alone = [{"source": source[None]} for source in sources]
    together = logits(model, spread(texts, real), **inputs)
    for i, text in enumerate(texts):
        assert close(together[i][real[i]], logits(model, text[None], **alone[i])[0])


@pytest.mark.parametrize(("side", "source_side"), LAYOUTS)
@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize(("mixer", "position"), MIXER_AND_POSITION)
def test_a_row_alone_is_the_row_in_a_padded_batch(
    mixer: str, position: str, topology: str, side: str, source_side: str
) -> None:
    assert_rows_keep_apart(model(mixer=mixer, position=position, topology=topology), side, source_side)


@pytest.mark.parametrize(("axis", "name"), [pair for pair in EVERY_OPTION if pair[0] not in ("topology", "init")])
def test_no_part_mixes_the_rows_of_a_padded_batch(axis: str, name: str) -> None:
    for side, source_side in LAYOUTS:
        assert_rows_keep_apart(model("transformer_2017", **{axis: name}), side, source_side)


@pytest.mark.parametrize("backend", ["plain", "fused"])
@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize(("mixer", "position"), MIXER_AND_POSITION)
def test_a_row_without_a_real_token_is_finite_and_adds_nothing(
    mixer: str, position: str, topology: str, backend: str
) -> None:
    built = model(mixer=mixer, position=position, topology=topology, ffn="moe")
    tokens, real = draw(3), real_of([0, 11, LENGTH], LENGTH, "left")
    weights = draw(3, seed=5)[..., None] * real[..., None] / LENGTH
    outcomes = []
    for rows in (slice(0, 3), slice(1, 3)):
        sources = {}
        if built.topology.reads_source:
            sources["source"] = draw(3, SOURCE_LENGTH, seed=6)[rows]
            sources["source_padding"] = real_of([0, SOURCE_LENGTH, 4], SOURCE_LENGTH, "right")[rows]
        out = call(built, tokens[rows], padding=real[rows], backend=backend, **sources)
        assert out.logits.isfinite().all()
        loss = (out.logits * weights[rows]).sum() + sum(out.auxiliary.values())
        outcomes.append((out, torch.autograd.grad(loss, list(built.parameters()))))
    (out, gradients), (fewer, expected) = outcomes
    assert close(out.logits[1:][real[1:]], fewer.logits[real[1:]])
    assert all(close(out.auxiliary[name], fewer.auxiliary[name]) for name in fewer.auxiliary)
    assert all(close(g, e, 1e-4) for g, e in zip(gradients, expected, strict=True))


@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize(("mixer", "position"), MIXER_AND_POSITION)
def test_a_document_alone_is_the_document_packed_with_others(mixer: str, position: str, topology: str) -> None:
    built = model(mixer=mixer, position=position, topology=topology)
    lengths = [7, 12, 15]
    row = draw(1, sum(lengths))
    documents = torch.repeat_interleave(torch.arange(3), torch.tensor(lengths))[None]
    alone = torch.cat([logits(built, text) for text in row.split(lengths, dim=1)], dim=1)
    padded = torch.nn.functional.pad(row, (0, 4), value=1)
    real = torch.nn.functional.pad(torch.ones_like(row, dtype=torch.bool), (0, 4))
    assert close(logits(built, row, documents=documents), alone)
    assert close(logits(built, row, documents=documents, padding=torch.ones_like(row, dtype=torch.bool)), alone)
    trailing = torch.nn.functional.pad(documents, (0, 4), value=2)
    assert close(logits(built, padded, documents=trailing, padding=real)[:, : sum(lengths)], alone)


@pytest.mark.parametrize(("mixer", "position"), MIXER_AND_POSITION)
def test_a_prefix_ends_with_its_document_and_skips_padding(mixer: str, position: str) -> None:
    built = model(mixer=mixer, position=position, topology="prefix_lm")
    lengths = [9, 14]
    row = draw(1, sum(lengths))
    prefixes = [torch.arange(length)[None] < 4 for length in lengths]
    alone = torch.cat(
        [logits(built, text, prefix=prefix) for text, prefix in zip(row.split(lengths, 1), prefixes, strict=True)], dim=1
    )
    prefix, documents = torch.cat(prefixes, 1), torch.tensor([[3] * 9 + [1] * 14])
    assert close(logits(built, row, prefix=prefix, documents=documents), alone)
    pad = {"pad": (5, 0)}
    padded = logits(
        built,
        torch.nn.functional.pad(row, **pad, value=1),
        prefix=torch.nn.functional.pad(prefix, **pad, value=True),
        documents=torch.nn.functional.pad(documents, **pad, value=3),
        padding=torch.nn.functional.pad(torch.ones_like(row, dtype=torch.bool), **pad),
    )
    assert close(padded[:, 5:], alone)


@pytest.mark.parametrize(("mixer", "position"), MIXER_AND_POSITION)
def test_an_output_does_not_depend_on_how_far_the_source_is_padded(mixer: str, position: str) -> None:
    built = model(mixer=mixer, position=position, topology="encoder_decoder")
    target, source = draw(1, 11), draw(1, 8, seed=3)
    expected = logits(built, target, source=source)
    for width in (8, 16, 40):
        for side in ("left", "right"):
            real = real_of([8], width, side)
            padded = {"source": spread([source[0]], real), "source_padding": real}
            assert close(logits(built, target, **padded), expected)
