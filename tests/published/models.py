"""Small models of every published family, ours and those of transformers, with weights that hide nothing."""

from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Tensor
from transformers import PreTrainedModel

from tests.reference.compare import randomise
from zoo.assembly import build_model
from zoo.command.compose import compose
from zoo.config import parse_model, plain
from zoo.data.tokenizer.bytes import Bytes
from zoo.published.family import families
from zoo.run import Run

VOCABULARY = 259
SIZES = ("model.d_model=16", "model.n_layers=2", "model.n_heads=4", "budget.context=24")
FAMILIES = sorted(families())
VARIANTS: dict[str, list[tuple[str, ...]]] = {
    "gpt2": [
        ("model.norm.eps=0.5", "model.ffn.d_ff=20", "model.dropout=0.25"),
        ("model.embedding.tie=none", "model.mixer.scale=false", "model/ffn=gelu"),
    ],
    "bert": [("model.norm.eps=0.5", "model.ffn.d_ff=20"), ("model.mixer.dropout=0.25",)],
    "llama": [
        ("model.d_model=64", "model.mixer.head_dim=24", "model.norm.eps=0.5"),
        ("model.embedding.tie=output", "model.mixer.n_kv_heads=2", "model.bias=true", "model.ffn.d_ff=20"),
        ("model/position=rope_linear", "model.position.factor=3.0", "model.ffn.bias=true", "model.position.base=50.0"),
        ("model/position=rope_llama3", "model.position.trained=8", "model.position.factor=4.0"),
    ],
    "mixtral": [
        ("model.mixer.window=5", "model.ffn.experts=4", "model.ffn.k=3", "model.embedding.tie=output"),
        ("model/position=rope_linear", "model.mixer.head_dim=6", "model.ffn.expert.d_ff=20"),
    ],
}
"""Beside the model that has the family's name: what else its config.json can say."""
CASES = [(family, ()) for family in FAMILIES] + [(name, one) for name, more in VARIANTS.items() for one in more]


def run_of(*overrides: str, vocabulary: int = VOCABULARY) -> Run:
    """A run of ours after one step from weights that hide nothing."""
    node = plain(compose([*SIZES, *overrides]))
    model = build_model(parse_model(node["model"]), vocabulary, seed=0)
    randomise(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(draw(vocabulary)).logits.logsumexp(-1).mean().backward()
    optimizer.step()
    about = {key: node[key] for key in ("model", "objective", "data")}
    config = about | {"vocabulary": vocabulary, "context": node["budget"]["context"]}
    return Run(model.eval(), Bytes(), config, 1)


def draw(vocabulary: int = VOCABULARY) -> Tensor:
    """Tokens of every part of the vocabulary."""
    return torch.randint(vocabulary, (3, 17), generator=torch.Generator().manual_seed(0))


def in_transformers(folder: Path, objective: str) -> PreTrainedModel:
    """What its users get from a folder, with nothing missing and nothing left over."""
    auto = {"causal": "AutoModelForCausalLM", "masked": "AutoModelForMaskedLM"}[objective]
    load: Any = getattr(transformers, auto).from_pretrained
    model, said = load(folder, attn_implementation="eager", local_files_only=True, output_loading_info=True)
    assert not any(said.values()), said
    return model.eval()


def theirs(name: str, **values: Any) -> PreTrainedModel:
    """A small random model of theirs, of the config that our model of that name exports, with those values changed."""
    from zoo.published.writing import expressed

    family, config = expressed(run_of(f"model={name}").config)
    kind = getattr(transformers, family.architecture)
    built = kind(kind.config_class.from_dict({**config, **values}))
    built.config._attn_implementation = "eager"
    randomise(built)
    return built.eval()


@torch.no_grad()
def logits(model: Any) -> Tensor:
    """Of either library."""
    return model(draw()).logits
