"""BERT: Devlin et al. 2018, with its head for masked tokens. Of the token types only the first is used here: what it
adds is taken into the places. An export has the table that the layout asks for, 2 × d_model zeros, which are no
parameters of ours."""

from zoo.published.family import Family
from zoo.published.layout import Added, Table, inside
from zoo.published.settings import Free, Key

PLACES = "topology.stack.positions.learned.weight"

BLOCK: Table = {
    "attention.self.query.*": "mixer.q.*",
    "attention.self.key.*": "mixer.k.*",
    "attention.self.value.*": "mixer.v.*",
    "attention.output.dense.*": "mixer.out.*",
    "attention.output.LayerNorm.*": "mixer_norm.*",
    "intermediate.dense.*": "ffn.up.*",
    "output.dense.*": "ffn.down.*",
    "output.LayerNorm.*": "ffn_norm.*",
}

FAMILY = Family(
    name="bert",
    architecture="BertForMaskedLM",
    objective="masked",
    template={
        "vocabulary": Key("vocab_size"),
        "context": Free(None),
        "model": {
            "d_model": Key("hidden_size"),
            "n_layers": Key("num_hidden_layers"),
            "n_heads": Key("num_attention_heads"),
            "dropout": Key("hidden_dropout_prob", default=0.1),
            "bias": Free(True),
            "topology": {"name": "encoder_only"},
            "embedding": {"name": "table", "norm": True, "tie": "output"},
            "position": {"name": "learned", "max_positions": Key("max_position_embeddings")},
            "block": {"name": "post_norm"},
            "norm": {"name": "layernorm", "eps": Key("layer_norm_eps", default=1e-12)},
            "mixer": {
                "name": "attention",
                "bias": True,
                "dropout": Key("attention_probs_dropout_prob", default=0.1),
            },
            "ffn": {"name": "gelu", "approximate": "none", "d_ff": Key("intermediate_size"), "bias": True},
            "head": {"name": "transform"},
            "init": Free({"name": "normal"}),
        },
    },
    fixed={
        "hidden_act": "gelu",
        "type_vocab_size": 2,
        "tie_word_embeddings": True,
        "is_decoder": False,
        "add_cross_attention": False,
        "position_embedding_type": "absolute",
    },
    tensors={
        "bert.embeddings.word_embeddings.weight": "topology.stack.embedding.weight",
        "bert.embeddings.position_embeddings.weight": PLACES,
        "bert.embeddings.token_type_embeddings.weight": Added(PLACES, rows=2),
        "bert.embeddings.LayerNorm.*": "topology.stack.embedding.norm.*",
        **inside("bert.encoder.layer.{i}.", "topology.stack.blocks.{i}.", BLOCK),
        "cls.predictions.transform.dense.*": "head.transform.*",
        "cls.predictions.transform.LayerNorm.*": "head.norm.*",
        "cls.predictions.bias": "head.out.bias",
    },
    aliases={
        "cls.predictions.decoder.weight": "bert.embeddings.word_embeddings.weight",
        "cls.predictions.decoder.bias": "cls.predictions.bias",
    },
    ignored=(
        "bert.embeddings.position_ids",
        "bert.pooler.*",
        "cls.seq_relationship.*",
        "classifier_dropout",
        "gradient_checkpointing",
    ),
)
