"""Where each of our parameters lies in other libraries' models.

A table reads {our name: their name}. In both, {i} is a layer, {e} an expert, and * is weight or bias. Every entry is a
view of their tensors, so one table serves three uses: read a view and weights come in, write to it and they go out,
read it on gradients and the two models can be compared.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class View:
    """One of our parameters inside one of theirs.

    expert: theirs has all experts along its first axis; ours is this one
    transposed: theirs is (inputs, outputs), as in the Conv1D of GPT-2
    part: (which, of how many): theirs has that many projections of equal size along the outputs
    """

    name: str
    expert: str = ""
    transposed: bool = False
    part: tuple[int, int] = (0, 1)

    def of(self, tensors: Mapping[str, Tensor]) -> Tensor:
        """The view itself, on tensors by their names."""
        tensor = tensors[self.name].detach()
        if self.expert:
            tensor = tensor[int(self.expert)]
        if self.transposed:
            tensor = tensor.t()
        which, many = self.part
        return tensor.chunk(many)[which]


Table = Mapping[str, str | View]


def inside(ours: str, theirs: str, table: Table) -> dict[str, str | View]:
    """The table of a module, where it stands inside a larger one."""
    views = {name: View(entry) if isinstance(entry, str) else entry for name, entry in table.items()}
    return {ours + name: replace(view, name=theirs + view.name) for name, view in views.items()}


def find(table: Table, name: str) -> View:
    """The view for our parameter of that name. Raises KeyError when the table has none."""
    for pattern, entry in table.items():
        regex = re.escape(pattern).replace(r"\{i\}", r"(?P<i>\d+)").replace(r"\{e\}", r"(?P<e>\d+)")
        match = re.fullmatch(regex.replace(r"\*", "(?P<kind>weight|bias)"), name)
        if match is not None:
            found, view = match.groupdict(), View(entry) if isinstance(entry, str) else entry
            theirs = view.name.replace("*", found.get("kind", "*"))
            return replace(view, name=theirs.format(**found), expert=view.expert.format(**found))
    raise KeyError(name)


@torch.no_grad()
def copy_in(model: nn.Module, tensors: Mapping[str, Tensor], table: Table) -> None:
    """Fill every parameter of ours from theirs."""
    for name, parameter in model.named_parameters():
        source = find(table, name).of(tensors)
        if source.shape != parameter.shape:
            raise ValueError(f"{name} is {tuple(parameter.shape)}, {find(table, name).name} {tuple(source.shape)}")
        parameter.copy_(source)


MULTIHEAD_ATTENTION: Table = {
    "q.*": View("in_proj_*", part=(0, 3)),
    "k.*": View("in_proj_*", part=(1, 3)),
    "v.*": View("in_proj_*", part=(2, 3)),
    "out.*": "out_proj.*",
}
"""torch.nn.MultiheadAttention"""

_TORCH_ENCODER: Table = {
    **inside("mixer.", "self_attn.", MULTIHEAD_ATTENTION),
    "mixer_norm.*": "norm1.*",
    "ffn.up.*": "linear1.*",
    "ffn.down.*": "linear2.*",
    "ffn_norm.*": "norm2.*",
}

_TORCH_DECODER: Table = {
    **_TORCH_ENCODER,
    **inside("cross.", "multihead_attn.", MULTIHEAD_ATTENTION),
    "cross_norm.*": "norm2.*",
    "ffn_norm.*": "norm3.*",
}

TRANSFORMER: Table = {
    **inside("encoder.blocks.{i}.", "encoder.layers.{i}.", _TORCH_ENCODER),
    **inside("stack.blocks.{i}.", "decoder.layers.{i}.", _TORCH_DECODER),
    "encoder.closing_norm.*": "encoder.norm.*",
    "stack.closing_norm.*": "decoder.norm.*",
}
"""torch.nn.Transformer; with norm_first=False only if its closing norms are left out"""

_GPT2_BLOCK: Table = {
    "mixer_norm.*": "ln_1.*",
    "mixer.q.*": View("attn.c_attn.*", transposed=True, part=(0, 3)),
    "mixer.k.*": View("attn.c_attn.*", transposed=True, part=(1, 3)),
    "mixer.v.*": View("attn.c_attn.*", transposed=True, part=(2, 3)),
    "mixer.out.*": View("attn.c_proj.*", transposed=True),
    "ffn_norm.*": "ln_2.*",
    "ffn.up.*": View("mlp.c_fc.*", transposed=True),
    "ffn.down.*": View("mlp.c_proj.*", transposed=True),
}

GPT2: Table = {
    "topology.stack.embedding.weight": "transformer.wte.weight",
    "topology.stack.positions.learned.weight": "transformer.wpe.weight",
    **inside("topology.stack.blocks.{i}.", "transformer.h.{i}.", _GPT2_BLOCK),
    "topology.stack.closing_norm.*": "transformer.ln_f.*",
}
"""transformers.GPT2LMHeadModel"""

_BERT_BLOCK: Table = {
    "mixer.q.*": "attention.self.query.*",
    "mixer.k.*": "attention.self.key.*",
    "mixer.v.*": "attention.self.value.*",
    "mixer.out.*": "attention.output.dense.*",
    "mixer_norm.*": "attention.output.LayerNorm.*",
    "ffn.up.*": "intermediate.dense.*",
    "ffn.down.*": "output.dense.*",
    "ffn_norm.*": "output.LayerNorm.*",
}

BERT: Table = {
    "topology.stack.embedding.weight": "bert.embeddings.word_embeddings.weight",
    "topology.stack.embedding.norm.*": "bert.embeddings.LayerNorm.*",
    "topology.stack.positions.learned.weight": "bert.embeddings.position_embeddings.weight",
    **inside("topology.stack.blocks.{i}.", "bert.encoder.layer.{i}.", _BERT_BLOCK),
    "head.transform.*": "cls.predictions.transform.dense.*",
    "head.norm.*": "cls.predictions.transform.LayerNorm.*",
    "head.out.bias": "cls.predictions.bias",
}
"""transformers.BertForMaskedLM, after `fold_token_types`"""

BERT_TOKEN_TYPES = "bert.embeddings.token_type_embeddings.weight"


def fold_token_types(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """BERT's weights for texts of one segment: what type 0 adds at every position goes into the position table."""
    position = "bert.embeddings.position_embeddings.weight"
    kept = {name: tensor for name, tensor in tensors.items() if name != BERT_TOKEN_TYPES}
    return kept | {position: tensors[position] + tensors[BERT_TOKEN_TYPES][0]}


_LLAMA_BLOCK: Table = {
    "mixer_norm.*": "input_layernorm.*",
    "mixer.q.*": "self_attn.q_proj.*",
    "mixer.k.*": "self_attn.k_proj.*",
    "mixer.v.*": "self_attn.v_proj.*",
    "mixer.out.*": "self_attn.o_proj.*",
    "ffn_norm.*": "post_attention_layernorm.*",
    "ffn.gate.*": "mlp.gate_proj.*",
    "ffn.up.*": "mlp.up_proj.*",
    "ffn.down.*": "mlp.down_proj.*",
    "ffn.router.weight": "mlp.gate.weight",  # from here on: Mixtral
    "ffn.experts.{e}.gate.weight": View("mlp.experts.gate_up_proj", expert="{e}", part=(0, 2)),
    "ffn.experts.{e}.up.weight": View("mlp.experts.gate_up_proj", expert="{e}", part=(1, 2)),
    "ffn.experts.{e}.down.weight": View("mlp.experts.down_proj", expert="{e}"),
}

LLAMA: Table = {
    "topology.stack.embedding.weight": "model.embed_tokens.weight",
    **inside("topology.stack.blocks.{i}.", "model.layers.{i}.", _LLAMA_BLOCK),
    "topology.stack.closing_norm.*": "model.norm.*",
    "head.out.weight": "lm_head.weight",
}
"""transformers.LlamaForCausalLM and, with experts in place of the FFN, MixtralForCausalLM"""
