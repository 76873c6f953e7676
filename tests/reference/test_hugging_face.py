"""Our presets against small random models of Hugging Face, whose attention is written out (`eager`)."""

import pytest
import torch
from torch import Tensor
from transformers import (
    BertConfig,
    BertForMaskedLM,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MixtralConfig,
    MixtralForCausalLM,
    PreTrainedConfig,
    PreTrainedModel,
)
from transformers.models.mixtral.modeling_mixtral import load_balancing_loss_func

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
from tests.reference.weights import BERT, GPT2, LLAMA, Table, fold_token_types
from zoo.mixer.backend import BACKENDS
from zoo.model import Model

B, T = 3, 9
NO_SPECIAL = {"bos_token_id": None, "eos_token_id": None, "pad_token_id": None}
BERT_SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": VOCABULARY}
SIZES = {**BERT_SIZES, "intermediate_size": 40}

backends = pytest.mark.parametrize("backend", sorted(BACKENDS))
sides = pytest.mark.parametrize("side", [None, "right", "left"])


def batch(side: str | None) -> tuple[Tensor, Tensor | None, Tensor]:
    """Tokens, which are real, and their places: those of padding are never looked at."""
    tokens = torch.randint(VOCABULARY, (B, T), generator=torch.Generator().manual_seed(0))
    real = real_positions(side, T, T - 3, 1)
    counts = torch.ones_like(tokens) if real is None else real.long()
    return tokens, real, (counts.cumsum(1) - 1).clamp(min=0)


def reference(kind: type[PreTrainedModel], config: PreTrainedConfig) -> PreTrainedModel:
    config._attn_implementation = "eager"
    model = kind(config).eval()
    randomise(model)
    return model


def assert_equal_models(model: Model, theirs: PreTrainedModel, table: Table, side: str | None) -> None:
    """Equal logits of real positions, and equal gradients of a loss of them."""
    tokens, real, places = batch(side)
    rows = torch.ones(B, T, dtype=torch.bool) if real is None else real
    outputs = model(tokens, real).logits
    wanted = theirs(tokens, attention_mask=None if real is None else real.long(), position_ids=places).logits
    assert_equal(outputs[rows], wanted[rows])
    for logits in (outputs, wanted):
        (logits * noise(B, T, VOCABULARY))[rows].sum().backward()
    assert_equal_parameter_gradients(model, theirs, table)


@backends
@sides
def test_gpt2_equals_hugging_face_with_copied_weights(side: str | None, backend: str) -> None:
    sizes = {"n_embd": 16, "n_layer": 2, "n_head": 4, "n_positions": 12, "vocab_size": VOCABULARY}
    theirs = reference(GPT2LMHeadModel, GPT2Config(**sizes, **NO_SPECIAL, layer_norm_epsilon=1e-3))
    model = build("model=gpt2", "model.norm.eps=1e-3")
    model.attention = backend
    copy_all(model, dict(theirs.named_parameters()), GPT2)
    assert_equal_models(model, theirs, GPT2, side)


@backends
@sides
def test_bert_equals_hugging_face_with_copied_weights(side: str | None, backend: str) -> None:
    sizes = BERT_SIZES | {"intermediate_size": 64, "max_position_embeddings": 12}
    theirs = reference(BertForMaskedLM, BertConfig(**sizes, **NO_SPECIAL, layer_norm_eps=1e-3))
    model = build("model=bert", "model.norm.eps=1e-3")
    model.attention = backend
    copy_all(model, fold_token_types(dict(theirs.named_parameters())), BERT)
    assert_equal_models(model, theirs, BERT, side)


@backends
@sides
@pytest.mark.parametrize(("kv_heads", "head_dim"), [(4, None), (2, None), (1, 6)])
def test_llama_equals_hugging_face_with_copied_weights(
    kv_heads: int, head_dim: int | None, side: str | None, backend: str
) -> None:
    shape = {"num_key_value_heads": kv_heads} | ({} if head_dim is None else {"head_dim": head_dim})
    theirs = reference(LlamaForCausalLM, LlamaConfig(**SIZES, **NO_SPECIAL, **shape))
    model = build(
        "model=llama",
        "model.norm.eps=1e-6",
        "model.ffn.d_ff=40",
        f"model.mixer.n_kv_heads={kv_heads}",
        f"model.mixer.head_dim={'null' if head_dim is None else head_dim}",
    )
    model.attention = backend
    copy_all(model, dict(theirs.named_parameters()), LLAMA)
    assert_equal_models(model, theirs, LLAMA, side)


def mixtral(k: int, backend: str) -> tuple[Model, PreTrainedModel]:
    shape = {"num_key_value_heads": 2, "num_local_experts": 4, "num_experts_per_tok": k}
    theirs = reference(MixtralForCausalLM, MixtralConfig(**SIZES, **NO_SPECIAL, **shape))
    model = build(
        "model=mixtral",
        "model.position.base=1e6",
        "model.ffn.expert.d_ff=40",
        "model.ffn.experts=4",
        f"model.ffn.k={k}",
    )
    model.attention = backend
    copy_all(model, dict(theirs.named_parameters()), LLAMA)
    return model, theirs


@backends
@sides
@pytest.mark.parametrize("k", [2, 3])
def test_mixtral_equals_hugging_face_with_copied_weights(k: int, side: str | None, backend: str) -> None:
    model, theirs = mixtral(k, backend)
    assert_equal_models(model, theirs, LLAMA, side)


@sides
@pytest.mark.parametrize("k", [2, 3])
def test_mixtrals_balance_loss_is_that_of_hugging_face_divided_by_k(k: int, side: str | None) -> None:
    """Of each layer by itself: we sum over layers, where Hugging Face pools the statistics of all layers first."""
    model, theirs = mixtral(k, "plain")
    tokens, real, places = batch(side)
    mask = None if real is None else real.long()
    routed = theirs(tokens, attention_mask=mask, position_ids=places, output_router_logits=True).router_logits
    assert len(routed) == 2
    wanted = sum(load_balancing_loss_func((layer,), 4, k, mask) for layer in routed) / k
    ours = model(tokens, real).auxiliary["balance"]
    assert_equal(ours, 0.01 * wanted)
    ours.backward()
    (0.01 * wanted).backward()
    assert_equal_parameter_gradients(model, theirs, LLAMA)
