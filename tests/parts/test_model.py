"""What a model refuses instead of computing something else."""

import inspect

import pytest
import torch

from tests.helpers import Node, close, draw, logits, model, option, refusal
from zoo.errors import UserError

TRUE = torch.ones(2, 6, dtype=torch.bool)


@pytest.mark.parametrize(
    ("topology", "inputs", "words"),
    [
        ("decoder_only", {"padding": TRUE.float()}, r"padding must be a bool tensor of shape \(2, 6\) \(True = real\)"),
        ("decoder_only", {"padding": TRUE.long()}, r"got torch\.int64 \(2, 6\)"),
        ("decoder_only", {"padding": TRUE[:, :5]}, r"got torch\.bool \(2, 5\)"),
        ("decoder_only", {"padding": TRUE[:1]}, r"got torch\.bool \(1, 6\)"),
        ("decoder_only", {"padding": TRUE[:, :, None]}, r"got torch\.bool \(2, 6, 1\)"),
        ("prefix_lm", {"prefix": TRUE.long()}, "prefix must be a bool tensor"),
        ("decoder_only", {"prefix": TRUE}, r"takes no prefix; choose model/topology=prefix_lm"),
        ("encoder_only", {"prefix": TRUE}, "takes no prefix"),
        ("decoder_only", {"source": draw(2, 4)}, "has no encoder to read a source"),
        ("decoder_only", {"source_padding": TRUE}, "source_padding must be a bool tensor"),
        (
            "decoder_only",
            {"documents": draw(2, 5)},
            r"documents must be whole numbers of shape \(2, 6\)",
        ),
        ("encoder_decoder", {"source": draw(2, 4), "source_padding": TRUE}, r"source_padding .* shape \(2, 4\)"),
        ("encoder_decoder", {"source": None}, "an encoder_decoder reads a source"),
    ],
)
def test_a_mask_of_the_wrong_kind_or_place_is_refused(
    topology: str, inputs: Node, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the model itself: the shape checks of the tests are taken off."""
    built = model(topology=topology)
    monkeypatch.setattr(type(built), "read", inspect.unwrap(type(built).read))
    with pytest.raises(UserError, match=words):
        inspect.unwrap(type(built).forward)(built, draw(2, 6), **inputs)


def test_true_is_real() -> None:
    built, tokens = model(), draw(1, 6)
    real = torch.tensor([[True] * 4 + [False] * 2])
    assert close(logits(built, tokens, padding=real)[:, :4], logits(built, tokens[:, :4]))


def test_stacks_of_an_encoder_decoder_may_have_different_depths() -> None:
    topology = option("topology", "encoder_decoder") | {"n_encoder_layers": 3, "n_decoder_layers": 1}
    built = model(topology=topology)
    assert [len(built.topology.encoder.blocks), len(built.topology.stack.blocks)] == [3, 1]
    assert all(block.cross is None for block in built.topology.encoder.blocks)
    assert all(block.cross is not None for block in built.topology.stack.blocks)


@pytest.mark.parametrize("side", ["n_encoder_layers", "n_decoder_layers"])
def test_a_stack_without_layers_is_refused(side: str) -> None:
    topology = option("topology", "encoder_decoder") | {side: 0}
    assert refusal(topology=topology).startswith("a stack has 1 to 10000 layers, got 0")


def test_a_pattern_of_parts_is_followed_layer_by_layer() -> None:
    mixer = {"name": "pattern", "layers": ["near", "far", "far"]}
    mixer |= {"near": option("mixer", "sliding"), "far": option("mixer", "mha")}
    ffn = {"name": "pattern", "layers": ["a", "b"], "a": option("ffn", "relu"), "b": option("ffn", "moe")}
    blocks = model(mixer=mixer, ffn=ffn, n_layers=5).topology.stack.blocks
    assert [block.mixer.window for block in blocks] == [32, None, None, 32, None]
    assert [type(block.ffn).__name__ for block in blocks] == ["ReLU", "MixtureOfExperts"] * 2 + ["ReLU"]
    assert [block.closes for block in blocks] == [False] * 5


def test_a_stack_closes_as_its_last_block_says() -> None:
    block = {"name": "pattern", "layers": ["pre", "post"]}
    block |= {"pre": option("block", "pre_norm"), "post": option("block", "post_norm")}
    names = [type(model(block=block, n_layers=n).topology.stack.closing_norm).__name__ for n in (2, 3)]
    assert names == ["Identity", "RMSNorm"]


def test_the_cross_mixer_is_the_one_chosen_for_it() -> None:
    built = model(topology="encoder_decoder", mixer="mha", cross="mqa")
    block = built.topology.stack.blocks[0]
    assert (block.mixer.groups, block.cross.groups) == (4, 1)
