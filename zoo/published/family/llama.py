"""Llama: Touvron et al. 2023, and its rotary scalings: Grattafiori et al. 2024."""

from zoo.published.family import Family
from zoo.published.layout import inside
from zoo.published.settings import Free, Key, OneOf

RENAMED = {"rope_scaling": "rope_parameters"}


def rotary(base: float) -> OneOf:
    """The rotary schemes, where a config that names no base means that one."""
    theta = Key("rope_parameters.rope_theta", ("rope_theta",), default=base)
    kind = Key("rope_parameters.rope_type", ("rope_scaling.rope_type", "rope_scaling.type"), default="default")
    llama3 = {
        "factor": _scaling("factor"),
        "low": _scaling("low_freq_factor"),
        "high": _scaling("high_freq_factor"),
        "trained": _scaling("original_max_position_embeddings"),
    }
    return OneOf(
        kind,
        {
            "default": {"name": "rope", "base": theta},
            "linear": {"name": "rope_linear", "base": theta, "factor": _scaling("factor")},
            "llama3": {"name": "rope_llama3", "base": theta, **llama3},
        },
    )


def _scaling(name: str) -> Key:
    """A value of the scaling, where today's files and older ones have it."""
    return Key(f"rope_parameters.{name}", (f"rope_scaling.{name}",))


MODEL = {
    "d_model": Key("hidden_size"),
    "n_layers": Key("num_hidden_layers"),
    "n_heads": Key("num_attention_heads"),
    "dropout": Free(0.0),
    "bias": Free(False),
    "topology": {"name": "decoder_only"},
    "embedding": {
        "name": "table",
        "tie": Key("tie_word_embeddings", default=False, values={True: "output", False: "none"}),
    },
    "position": rotary(10000.0),
    "block": {"name": "pre_norm"},
    "norm": {"name": "rmsnorm", "eps": Key("rms_norm_eps", default=1e-6)},
    "mixer": {
        "name": "attention",
        "n_kv_heads": Key("num_key_value_heads", default=None),
        "head_dim": Key("head_dim", default=None),
        "bias": Key("attention_bias", default=False),
        "dropout": Key("attention_dropout", default=0.0),
    },
    "ffn": {"name": "swiglu", "d_ff": Key("intermediate_size"), "bias": Key("mlp_bias", default=False)},
    "head": {"name": "linear"},
    "init": Free({"name": "normal"}),
}

BLOCK = {
    "input_layernorm.*": "mixer_norm.*",
    "self_attn.q_proj.*": "mixer.q.*",
    "self_attn.k_proj.*": "mixer.k.*",
    "self_attn.v_proj.*": "mixer.v.*",
    "self_attn.o_proj.*": "mixer.out.*",
    "post_attention_layernorm.*": "ffn_norm.*",
    "mlp.gate_proj.*": "ffn.gate.*",
    "mlp.up_proj.*": "ffn.up.*",
    "mlp.down_proj.*": "ffn.down.*",
}

OUTSIDE = {
    "model.embed_tokens.weight": "topology.stack.embedding.weight",
    "model.norm.*": "topology.stack.closing_norm.*",
    "lm_head.weight": "head.out.weight",
}

FAMILY = Family(
    name="llama",
    architecture="LlamaForCausalLM",
    objective="causal",
    template={"vocabulary": Key("vocab_size"), "context": Key("max_position_embeddings", default=2048), "model": MODEL},
    renamed=RENAMED,
    fixed={"hidden_act": "silu", "pretraining_tp": 1},
    tensors={**OUTSIDE, **inside("model.layers.{i}.", "topology.stack.blocks.{i}.", BLOCK)},
    aliases={"lm_head.weight": "model.embed_tokens.weight"},
    ignored=("*.rotary_emb.inv_freq",),
)
