"""DeepNorm scales the stream, not the sublayer, and starts its projections smaller."""

import pytest
import torch

from tests.helpers import build, close, context, model_node, noise, plain_sequence
from zoo.roles import Role, roles


def deep(layers: int = 12, **changes: object) -> torch.nn.Module:
    return build(model_node(block="deep_norm", norm="layernorm", n_layers=layers, **changes))


@pytest.mark.parametrize("given", [0.0, 1.0])
def test_the_output_is_the_norm_of_the_scaled_stream_and_the_sublayer(given: float) -> None:
    """Twelve layers of a decoder: α = 24^¼ ≈ 2.213. The mixer returns zeros, or ones on half of the features."""
    block = deep().topology.stack.blocks[0]
    assert block.alpha == pytest.approx(2.2134, abs=1e-4)
    assert block.beta == pytest.approx(0.3195, abs=1e-4)
    added = given * (torch.arange(16) < 8)
    block.mixer.forward = lambda x, context: added.expand_as(x)
    block.ffn.forward = lambda x, context: (torch.zeros_like(x), {})
    x = noise(2, 6, 16)
    y, _ = block(x, context(plain_sequence(6)))
    inner = torch.nn.functional.layer_norm(2.21336 * x + added, (16,))
    assert close(y, torch.nn.functional.layer_norm(2.21336 * inner, (16,)), 1e-4)


def test_values_outputs_and_the_ffn_start_smaller_and_queries_and_keys_do_not() -> None:
    small, plain = deep(), build(model_node(block="post_norm", norm="layernorm", n_layers=12))
    for name, (role, _) in roles(small).items():
        factor = 0.31948 if role in (Role.VALUE, Role.RESIDUAL, Role.MATRIX, Role.GATE) else 1.0
        assert close(small.get_parameter(name), factor * plain.get_parameter(name), 1e-4), name


def test_a_decoder_that_reads_a_source_has_three_sublayers() -> None:
    built = deep(3, topology="encoder_decoder")
    assert built.topology.stack.blocks[0].alpha == pytest.approx(9**0.25)
    assert built.topology.stack.blocks[0].beta == pytest.approx(36**-0.25)
    assert built.topology.encoder.blocks[0].alpha == pytest.approx(6**0.25)
