"""GPT-2: Radford et al. 2019. Query, key and value are one matrix, and every matrix is (inputs, outputs)."""

from zoo.published.family import Family
from zoo.published.layout import Table, Transposed, inside, joined
from zoo.published.settings import Free, Key

BLOCK: Table = {
    "ln_1.*": "mixer_norm.*",
    "attn.c_attn.*": Transposed(joined("mixer.q.*", "mixer.k.*", "mixer.v.*")),
    "attn.c_proj.*": Transposed("mixer.out.*"),
    "ln_2.*": "ffn_norm.*",
    "mlp.c_fc.*": Transposed("ffn.up.*"),
    "mlp.c_proj.*": Transposed("ffn.down.*"),
}

FAMILY = Family(
    name="gpt2",
    architecture="GPT2LMHeadModel",
    objective="causal",
    template={
        "vocabulary": Key("vocab_size"),
        "context": Free(None),
        "model": {
            "d_model": Key("n_embd"),
            "n_layers": Key("n_layer"),
            "n_heads": Key("n_head"),
            "dropout": Key("resid_pdrop", also=("embd_pdrop",), default=0.1),
            "bias": Free(True),
            "topology": {"name": "decoder_only"},
            "embedding": {
                "name": "table",
                "tie": Key("tie_word_embeddings", default=True, values={True: "output", False: "none"}),
            },
            "position": {"name": "learned", "max_positions": Key("n_positions")},
            "block": {"name": "pre_norm"},
            "norm": {"name": "layernorm", "eps": Key("layer_norm_epsilon", default=1e-5)},
            "mixer": {
                "name": "attention",
                "bias": True,
                "dropout": Key("attn_pdrop", default=0.1),
                "scale": Key("scale_attn_weights", default=True),
            },
            "ffn": {
                "name": "gelu",
                "approximate": Key(
                    "activation_function",
                    default="gelu_new",
                    values={"gelu_new": "tanh", "gelu": "none"},
                ),
                "d_ff": Key("n_inner", default=None),
                "bias": True,
            },
            "head": {"name": "linear"},
            "init": Free({"name": "normal", "scale_residual": True}),
        },
    },
    fixed={"scale_attn_by_inverse_layer_idx": False, "reorder_and_upcast_attn": False, "add_cross_attention": False},
    tensors={
        "transformer.wte.weight": "topology.stack.embedding.weight",
        "transformer.wpe.weight": "topology.stack.positions.learned.weight",
        **inside("transformer.h.{i}.", "topology.stack.blocks.{i}.", BLOCK),
        "transformer.ln_f.*": "topology.stack.closing_norm.*",
        "lm_head.weight": "head.out.weight",
    },
    aliases={"lm_head.weight": "transformer.wte.weight"},
    prefix="transformer.",
    ignored=("*.attn.bias", "*.attn.masked_bias", "n_ctx", "summary_*", "task_specific_params"),
)
