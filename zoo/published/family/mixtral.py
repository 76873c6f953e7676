"""Mixtral: Jiang et al. 2024. Llama with a mixture of experts in place of the ffn."""

from zoo.published.family import Family
from zoo.published.family.llama import BLOCK, MODEL, OUTSIDE, RENAMED, rotary
from zoo.published.layout import inside
from zoo.published.settings import Free, Key

EXPERTS = {
    "block_sparse_moe.gate.weight": "ffn.router.weight",
    "block_sparse_moe.experts.{e}.w1.weight": "ffn.experts.{e}.gate.weight",
    "block_sparse_moe.experts.{e}.w3.weight": "ffn.experts.{e}.up.weight",
    "block_sparse_moe.experts.{e}.w2.weight": "ffn.experts.{e}.down.weight",
}

FAMILY = Family(
    name="mixtral",
    architecture="MixtralForCausalLM",
    objective="causal",
    template={
        "vocabulary": Key("vocab_size"),
        "context": Key("max_position_embeddings", default=131072),
        "model": MODEL
        | {
            "position": rotary(1e6),
            "norm": {"name": "rmsnorm", "eps": Key("rms_norm_eps", default=1e-5)},
            "mixer": {
                "name": "attention",
                "n_kv_heads": Key("num_key_value_heads", default=8),
                "head_dim": Key("head_dim", default=None),
                "window": Key("sliding_window", default=None),
                "bias": False,
                "dropout": Key("attention_dropout", default=0.0),
            },
            "ffn": {
                "name": "moe",
                "expert": {"name": "swiglu", "d_ff": Key("intermediate_size"), "bias": False},
                "experts": Key("num_local_experts", default=8),
                "k": Key("num_experts_per_tok", default=2),
                "balance": Free(0.01),
                "router_z": Free(0.0),
            },
        },
    },
    renamed=RENAMED,
    fixed={"hidden_act": "silu", "router_jitter_noise": 0.0},
    tensors={**OUTSIDE, **inside("model.layers.{i}.", "topology.stack.blocks.{i}.", BLOCK | EXPERTS)},
    aliases={"lm_head.weight": "model.embed_tokens.weight"},
    ignored=("*.rotary_emb.inv_freq", "router_aux_loss_coef", "output_router_logits"),
)
