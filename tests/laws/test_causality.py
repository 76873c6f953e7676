"""No output depends on the future in a causal model, and a prefix is seen as a whole by all."""

import pytest
import torch
from torch import Tensor, nn

from tests.helpers import (
    CAUSAL_TOPOLOGIES,
    EVERY_OPTION,
    LENGTH,
    MIXER_AND_POSITION,
    OPTIONS,
    TOPOLOGIES,
    TWO_PARTS,
    VOCABULARY,
    Part,
    close,
    draw,
    logits,
    option,
    shared,
)
from zoo.model import Model

MIDDLE = LENGTH // 2


def reach(model: Model, row: Tensor, **inputs: Tensor) -> Tensor:
    """(T, T): how far the logits at t move with the embedding of s, by gradient. Copy t of the row asks about t."""
    length = row.shape[1]
    copies = {key: value.expand(length, -1) for key, value in inputs.items()}
    seen: list[Tensor] = []

    def keep(module: nn.Module, arguments: object, output: Tensor) -> None:
        seen.append(output)

    handle = model.topology.out.register_forward_hook(keep)
    out = logits(model, row.expand(length, -1), **copies)
    handle.remove()
    asked = (out[range(length), range(length)] * torch.linspace(-1, 1, out.shape[-1])).sum()
    return torch.autograd.grad(asked, seen)[0].abs().sum(-1)


@torch.no_grad()
def assert_causal(model: Model) -> None:
    """Rows 2 and 3 are rows 0 and 1 with another token in the middle."""
    before = draw(2)
    after = before.clone()
    after[:, MIDDLE] = (after[:, MIDDLE] + 1) % VOCABULARY
    a, b = logits(model, torch.cat([before, after])).chunk(2)
    assert close(a[:, :MIDDLE], b[:, :MIDDLE])
    assert not close(a[:, MIDDLE], b[:, MIDDLE], 1e-3)
    assert not close(a[:, MIDDLE + 1 :], b[:, MIDDLE + 1 :], 1e-4)


@pytest.mark.parametrize("topology", CAUSAL_TOPOLOGIES)
@pytest.mark.parametrize(("mixer", "position"), MIXER_AND_POSITION)
def test_no_output_depends_on_a_later_token(mixer: str, position: str, topology: str) -> None:
    assert_causal(shared(mixer=mixer, position=position, topology=topology))


@pytest.mark.parametrize("topology", CAUSAL_TOPOLOGIES)
@pytest.mark.parametrize(("mixer", "position"), MIXER_AND_POSITION)
def test_no_gradient_reaches_an_output_from_a_later_token(mixer: str, position: str, topology: str) -> None:
    pull = reach(shared(mixer=mixer, position=position, topology=topology), draw(1, 7))
    assert pull.triu(1).count_nonzero() == 0
    assert (pull.tril() > 0).sum() == 7 * 8 // 2


@pytest.mark.parametrize("topology", CAUSAL_TOPOLOGIES)
@pytest.mark.parametrize(("axis", "name"), [pair for pair in EVERY_OPTION if pair[0] not in ("topology", "init")])
def test_no_other_part_lets_the_future_in(axis: str, name: str, topology: str) -> None:
    assert_causal(shared(topology=topology, **{axis: name}))


@pytest.mark.parametrize(("one", "other"), TWO_PARTS, ids="-".join)
def test_no_two_parts_let_the_future_in_together(one: Part, other: Part) -> None:
    assert_causal(shared(**dict([one, other])))


@pytest.mark.parametrize("block", OPTIONS["block"])
@pytest.mark.parametrize("norm", OPTIONS["norm"])
@pytest.mark.parametrize("ffn", OPTIONS["ffn"])
def test_no_block_lets_the_future_in_with_any_norm_and_ffn(block: str, norm: str, ffn: str) -> None:
    assert_causal(shared(block=block, norm=norm, ffn=ffn, embedding="bert"))


@pytest.mark.parametrize("topology", [name for name in TOPOLOGIES if name not in CAUSAL_TOPOLOGIES])
@pytest.mark.parametrize(("mixer", "position"), MIXER_AND_POSITION)
def test_every_output_of_a_bidirectional_model_depends_on_every_token(mixer: str, position: str, topology: str) -> None:
    assert (reach(shared(mixer=mixer, position=position, topology=topology), draw(1, 7)) > 0).all()


@pytest.mark.parametrize(("mixer", "position"), MIXER_AND_POSITION)
def test_a_prefix_of_six_is_seen_by_all_and_the_rest_is_causal(mixer: str, position: str) -> None:
    built = shared(mixer=mixer, position=position, topology="prefix_lm")
    places = torch.arange(10)
    pull = reach(built, draw(1, 10), prefix=(places < 6)[None])
    assert torch.equal(pull > 0, (places[:, None] >= places) | (places < 6))


@pytest.mark.parametrize(("mixer", "position"), MIXER_AND_POSITION)
@torch.no_grad()
def test_a_prefix_of_none_or_one_is_causal_and_a_prefix_of_all_is_an_encoder(mixer: str, position: str) -> None:
    """A scheme that may read places otherwise in a causal stack is told to read them alike in all."""
    scheme = option("position", position)
    scheme = scheme | ({"both_sides": True} if "both_sides" in scheme else {})
    prefix_lm, decoder, encoder = (
        shared(mixer=mixer, position=scheme, topology=topology)
        for topology in ("prefix_lm", "decoder_only", "encoder_only")
    )
    tokens = draw(2)
    places = torch.arange(LENGTH).expand(2, -1)
    for length in (0, 1):
        assert close(logits(prefix_lm, tokens, prefix=places < length), logits(decoder, tokens))
    assert close(logits(prefix_lm, tokens, prefix=places < LENGTH), logits(encoder, tokens))
