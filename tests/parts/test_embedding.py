"""How tokens enter and how they are predicted: one scale, on the way in only; tables that are one stay one."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.helpers import (
    VOCABULARY,
    close,
    context,
    draw,
    logits,
    model,
    noise,
    option,
    part,
    plain_sequence,
    randomise,
    refusal,
)
from zoo.model import Model


def table(**values: object) -> dict[str, object]:
    return option("embedding", "plain") | values


def tables(model: Model) -> dict[str, Tensor]:
    """Every name of a vocabulary table, those that share storage too."""
    found = model.named_parameters(remove_duplicate=False)
    return {name: weight for name, weight in found if weight.ndim == 2 and weight.shape[0] == VOCABULARY}


def into_first_block(model: Model, tokens: Tensor) -> Tensor:
    seen: list[Tensor] = []

    def keep(module: nn.Module, arguments: tuple[Tensor, ...]) -> None:
        seen.append(arguments[0])

    model.topology.stack.blocks[0].register_forward_pre_hook(keep)
    logits(model, tokens)
    return seen[0]


@pytest.mark.parametrize("tie", ["none", "output"])
def test_the_scale_is_the_root_of_the_width_once_and_on_the_way_in_only(tie: str) -> None:
    bare, scaled = (
        model(d_model=64, position="none", embedding=table(scale=scale, tie=tie)) for scale in (False, True)
    )
    tokens, hidden = draw(2), noise(2, 5, 64)
    assert torch.equal(into_first_block(bare, tokens), F.embedding(tokens, bare.topology.out.weight))
    assert close(into_first_block(scaled, tokens), 8 * into_first_block(bare, tokens))
    assert torch.equal(scaled.head(hidden), bare.head(hidden))
    assert close(bare.head(hidden), hidden @ bare.head.out.weight.T)


def test_a_position_is_added_to_the_scaled_embedding_and_not_scaled_itself() -> None:
    built = model(position="sinusoidal", embedding=table(scale=True))
    tokens = draw(1)
    waves = part("position", "sinusoidal").embed(torch.zeros(1, tokens.shape[1], 16), plain_sequence(tokens.shape[1]))
    assert close(into_first_block(built, tokens), 4 * F.embedding(tokens, built.topology.out.weight) + waves)


def test_the_norm_of_an_embedding_comes_after_the_position() -> None:
    built = model(position="learned", embedding=table(norm=True), norm="layernorm", block="post_norm")
    x = into_first_block(built, draw(3))
    assert close(x.mean(-1), torch.zeros(3, x.shape[1]))
    assert close(x.square().mean(-1), torch.ones(3, x.shape[1]), 1e-2)


@pytest.mark.parametrize(
    ("topology", "tie", "one"),
    [
        ("decoder_only", "none", []),
        ("decoder_only", "output", ["head", "stack"]),
        ("decoder_only", "all", ["head", "stack"]),
        ("encoder_decoder", "none", []),
        ("encoder_decoder", "output", ["head", "stack"]),
        ("encoder_decoder", "all", ["encoder", "head", "stack"]),
    ],
)
def test_tied_tables_share_storage_before_and_after_a_step_and_others_do_not(
    topology: str, tie: str, one: list[str]
) -> None:
    built = model(topology=topology, embedding=table(tie=tie))

    def shared() -> list[str]:
        groups: dict[int, list[str]] = {}
        for name, weight in tables(built).items():
            groups.setdefault(weight.data_ptr(), []).append(name.removeprefix("topology.").split(".")[0])
        return sorted(name for group in groups.values() if len(group) > 1 for name in group)

    assert shared() == sorted(one)
    assert len(tables(built)) == (3 if topology == "encoder_decoder" else 2)
    optimizer = torch.optim.AdamW(built.parameters(), lr=0.1)
    logits(built, draw(2)).square().mean().backward()
    optimizer.step()
    built.load_state_dict(built.state_dict())
    assert shared() == sorted(one)


def test_a_tied_table_learns_from_both_its_ends() -> None:
    built = model(embedding="tied", n_layers=1)
    tokens = torch.zeros(1, 4, dtype=torch.long)
    logits(built, tokens)[..., 5].sum().backward()
    gradient = built.topology.out.weight.grad
    assert gradient is not None
    assert gradient[0].any() and gradient[5].any()  # noqa: PT018
    assert not gradient[7].any()


def test_an_unknown_tie_is_refused_with_the_choices() -> None:
    assert refusal(embedding=table(tie="inputs")).endswith("choose from none, output, all")
    assert "model.embedding.tie=True" in refusal(embedding=table(tie=True))


@pytest.mark.parametrize("bias", [True, False])
def test_a_transforming_head_is_its_equation(bias: bool) -> None:
    head = randomise(part("head", "transform", VOCABULARY, bias=bias))
    x = noise(2, 3, 16)
    zero = torch.zeros(())
    inner, outer = (head.transform.bias, head.out.bias) if bias else (zero, zero)
    y = head.norm(F.gelu(x @ head.transform.weight.T + inner))
    assert close(head(x), y @ head.out.weight.T + outer)


def test_a_head_is_given_no_context() -> None:
    """A head works on each position by itself."""
    head = randomise(part("head", "transform", VOCABULARY))
    x = noise(1, 6, 16)
    assert close(head(x)[:, 2:3], head(x[:, 2:3]))
    assert context(plain_sequence(6)).memory is None
