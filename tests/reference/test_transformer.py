"""Our encoder–decoder against torch.nn.Transformer between the embedding of 2017 and a tied head."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.reference.compare import (
    VOCABULARY,
    assert_equal,
    assert_equal_parameter_gradients,
    build,
    copy_all,
    noise,
    randomise,
    real_positions,
)
from tests.reference.weights import TRANSFORMER, inside
from zoo.mixer.backend import BACKENDS

B, T, S, D, H = 3, 6, 7, 16, 4
TABLE = {
    "topology.stack.embedding.weight": "table",
    **inside("topology.", "transformer.", TRANSFORMER),
}


class Reference(nn.Module):
    """One table for source, target and output, scaled by √D on the way in; sines and cosines; nn.Transformer.

    nn.Transformer closes both its stacks with a norm. That is right for pre-norm; the post-norm of 2017 has none, and
    here neither: its stacks are made without, the layers are torch's own.
    """

    def __init__(self, pre_norm: bool, activation: str):
        super().__init__()
        sizes = {"dim_feedforward": 4 * D, "dropout": 0.0, "batch_first": True, "norm_first": pre_norm}
        read = nn.TransformerEncoderLayer(D, H, activation=activation, **sizes)
        write = nn.TransformerDecoderLayer(D, H, activation=activation, **sizes)
        closing = [nn.LayerNorm(D) if pre_norm else None for _ in range(2)]
        encoder = nn.TransformerEncoder(read, 1, closing[0], enable_nested_tensor=False)
        decoder = nn.TransformerDecoder(write, 2, closing[1])
        self.table = nn.Parameter(torch.empty(VOCABULARY, D))
        self.transformer = nn.Transformer(D, H, custom_encoder=encoder, custom_decoder=decoder, batch_first=True)

    def embed(self, tokens: Tensor, real: Tensor | None) -> Tensor:
        """Places are counted over real tokens; padding before the first has place 0."""
        places = torch.ones_like(tokens) if real is None else real.long()
        places = (places.cumsum(1) - 1).clamp(min=0)
        waves = torch.tensor(
            [
                [f(place / 10000 ** (2 * i / D)) for i in range(D // 2) for f in (math.sin, math.cos)]
                for place in range(tokens.shape[1])
            ]
        )
        return self.table[tokens] * D**0.5 + waves[places]

    def forward(self, target: Tensor, source: Tensor, real: Tensor | None, source_real: Tensor | None) -> Tensor:
        hidden = self.transformer(
            self.embed(source, source_real),
            self.embed(target, real),
            tgt_mask=torch.ones(T, T, dtype=torch.bool).triu(1),
            src_key_padding_mask=None if source_real is None else ~source_real,
            memory_key_padding_mask=None if source_real is None else ~source_real,
            tgt_key_padding_mask=None if real is None else ~real,
        )
        return F.linear(hidden, self.table)


@pytest.mark.parametrize("backend", sorted(BACKENDS))
@pytest.mark.parametrize(("side", "source_side"), [(None, None), ("right", "right"), ("left", "left"), (None, "left")])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("block", ["post_norm", "pre_norm"])
def test_transformer_2017_equals_torch_with_copied_weights(
    block: str, activation: str, side: str | None, source_side: str | None, backend: str
) -> None:
    reference = Reference(block == "pre_norm", activation)
    randomise(reference)
    model = build(
        "model=transformer_2017",
        f"model/block={block}",
        f"model/ffn={activation}",
        "model.topology.n_encoder_layers=1",
        "model.topology.n_decoder_layers=2",
    )
    model.attention = backend
    copy_all(model, dict(reference.named_parameters()), TABLE)
    tokens = torch.Generator().manual_seed(0)
    target, source = (torch.randint(VOCABULARY, (B, n), generator=tokens) for n in (T, S))
    real, source_real = real_positions(side, T, T - 2, 2), real_positions(source_side, S, S - 2, 2)
    outputs = model(target, real, source=source, source_padding=source_real).logits
    wanted = reference(target, source, real, source_real)
    rows = torch.ones(B, T, dtype=torch.bool) if real is None else real
    assert_equal(outputs[rows], wanted[rows])
    for logits in (outputs, wanted):
        (logits * noise(B, T, VOCABULARY))[rows].sum().backward()
    assert_equal_parameter_gradients(model, reference, TABLE)
