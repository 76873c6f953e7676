"""A row alone = the same row in a padded batch = the same row packed with others."""

import pytest
import torch
from torch.nn.functional import pad

from tests.helpers import (
    EVERY_OPTION,
    LENGTH,
    MIXER_AND_POSITION,
    OPTIONS,
    SOURCE_LENGTH,
    TOPOLOGIES,
    TWO_PARTS,
    Part,
    both_sides,
    call,
    close,
    draw,
    logits,
    real_of,
    shared,
    spread,
)
from zoo.errors import UserError
from zoo.model import Model


@torch.no_grad()
def assert_rows_keep_apart(model: Model) -> None:
    """Two texts, each alone and twice in one batch, padded left and right; their sources are padded the other way."""
    texts = [draw(1, length, seed=length)[0] for length in (5, LENGTH)]
    real = both_sides([5, LENGTH], LENGTH + 3)
    inputs, alone = {"padding": real}, [{}, {}]
    if model.topology.traits.reads_source:
        sources = [draw(1, length, seed=length)[0] for length in (SOURCE_LENGTH, 2)]
        source_real = both_sides([SOURCE_LENGTH, 2], SOURCE_LENGTH + 4).roll(2, 0)
        inputs |= {"source": spread([*sources, *sources], source_real), "source_padding": source_real}
        alone = [{"source": source[None]} for source in sources]
    together = logits(model, spread([*texts, *texts], real), **inputs)
    for i, text in enumerate(texts):
        expected = logits(model, text[None], **alone[i])[0]
        for row in (i, i + 2):
            assert close(together[row][real[row]], expected)


@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize(("mixer", "position"), MIXER_AND_POSITION)
def test_a_row_alone_is_the_row_padded_left_or_right(mixer: str, position: str, topology: str) -> None:
    assert_rows_keep_apart(shared(mixer=mixer, position=position, topology=topology))


@pytest.mark.parametrize(("one", "other"), TWO_PARTS, ids="-".join)
def test_no_two_parts_mix_the_rows_of_a_padded_batch_together(one: Part, other: Part) -> None:
    assert_rows_keep_apart(shared(**dict([one, other])))


@pytest.mark.parametrize(("axis", "name"), [pair for pair in EVERY_OPTION if pair[0] not in ("topology", "init")])
def test_no_part_mixes_the_rows_of_a_padded_batch(axis: str, name: str) -> None:
    assert_rows_keep_apart(shared("transformer_2017", **{axis: name}))


@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize("mixer", OPTIONS["mixer"])
def test_a_row_without_a_real_token_is_finite_and_adds_nothing(mixer: str, topology: str) -> None:
    built = shared(mixer=mixer, topology=topology, ffn="moe")
    tokens, real = draw(3), real_of([0, 11, LENGTH], LENGTH, "left")
    source, source_real = draw(3, SOURCE_LENGTH, seed=6), real_of([0, SOURCE_LENGTH, 4], SOURCE_LENGTH, "right")
    weights = draw(3, seed=5)[..., None] * real[..., None] / LENGTH
    outcomes = []
    for rows in (slice(0, 3), slice(1, 3)):
        read = built.topology.traits.reads_source
        sources = {"source": source[rows], "source_padding": source_real[rows]} if read else {}
        out = call(built, tokens[rows], padding=real[rows], **sources)
        assert out.logits.isfinite().all()
        loss = (out.logits * weights[rows]).sum() + sum(out.auxiliary.values())
        outcomes.append((out, torch.autograd.grad(loss, list(built.parameters()))))
    (out, gradients), (fewer, expected) = outcomes
    assert close(out.logits[1:][real[1:]], fewer.logits[real[1:]])
    assert all(close(out.auxiliary[name], fewer.auxiliary[name]) for name in fewer.auxiliary)
    assert all(close(g, e, 1e-4) for g, e in zip(gradients, expected, strict=True))


@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize(("mixer", "position"), MIXER_AND_POSITION)
@torch.no_grad()
def test_a_document_alone_is_the_document_packed_with_others(mixer: str, position: str, topology: str) -> None:
    built = shared(mixer=mixer, position=position, topology=topology)
    lengths = [7, 12]
    row, documents = draw(1, 19), torch.tensor([[4] * 7 + [2] * 12])
    alone = torch.cat([logits(built, text) for text in row.split(lengths, dim=1)], dim=1)
    assert close(logits(built, row, documents=documents), alone)
    padded, trailing = (pad(one, (0, 4), value=2) for one in (row, documents))
    assert close(logits(built, padded, documents=trailing, padding=real_of([19], 23, "right"))[:, :19], alone)


@pytest.mark.parametrize(("mixer", "position"), MIXER_AND_POSITION)
@torch.no_grad()
def test_a_packed_target_reads_its_own_packed_source(mixer: str, position: str) -> None:
    built = shared(mixer=mixer, position=position, topology="encoder_decoder")
    targets, sources = draw(1, 19).split([7, 12], 1), draw(1, 9, seed=3).split([5, 4], 1)
    alone = [logits(built, target, source=source) for target, source in zip(targets, sources, strict=True)]
    documents, source_documents = torch.tensor([[4] * 7 + [2] * 12]), torch.tensor([[1] * 5 + [8] * 4])
    packed = {"documents": documents, "source": torch.cat(sources, 1), "source_documents": source_documents}
    assert close(logits(built, torch.cat(targets, 1), **packed), torch.cat(alone, 1))


def test_packed_targets_without_as_many_packed_sources_are_refused() -> None:
    built = shared(topology="encoder_decoder")
    source, ones = draw(1, 6, seed=3), torch.ones(1, 6, dtype=torch.long)
    with pytest.raises(UserError, match="source_documents go with documents"):
        built(draw(1, 6), source=source, source_documents=ones)
    with pytest.raises(UserError, match="as many documents as its source has"):
        built(draw(1, 6), documents=ones, source=source, source_documents=torch.arange(6)[None])


@pytest.mark.parametrize(("mixer", "position"), MIXER_AND_POSITION)
@torch.no_grad()
def test_a_prefix_ends_with_its_document_and_skips_padding(mixer: str, position: str) -> None:
    built = shared(mixer=mixer, position=position, topology="prefix_lm")
    row, documents = draw(1, 23), torch.tensor([[3] * 9 + [1] * 14])
    prefixes = [torch.arange(length)[None] < 4 for length in (9, 14)]
    parts = zip(row.split([9, 14], 1), prefixes, strict=True)
    alone = torch.cat([logits(built, text, prefix=prefix) for text, prefix in parts], dim=1)
    packed = {"prefix": torch.cat(prefixes, 1), "documents": documents}
    assert close(logits(built, row, **packed), alone)
    shifted = {"prefix": pad(packed["prefix"], (5, 0), value=True), "documents": pad(documents, (5, 0), value=3)}
    out = logits(built, pad(row, (5, 0), value=1), padding=real_of([23], 28, "left"), **shifted)
    assert close(out[:, 5:], alone)


@pytest.mark.parametrize(("mixer", "position"), MIXER_AND_POSITION)
@torch.no_grad()
def test_an_output_does_not_depend_on_how_far_the_source_is_padded(mixer: str, position: str) -> None:
    built = shared(mixer=mixer, position=position, topology="encoder_decoder")
    target, source = draw(1, 11), draw(1, 8, seed=3)
    expected = logits(built, target, source=source)
    for width in (8, 16, 40):
        for side in ("left", "right"):
            real = real_of([8], width, side)
            padded = {"source": spread([source[0]], real), "source_padding": real}
            assert close(logits(built, target, **padded), expected)
