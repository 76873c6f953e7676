"""Greedy and beam continuations against `generate` of Hugging Face, weights copied, in left-padded batches."""

from functools import cache

import pytest
import torch
from torch import Tensor
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MixtralConfig,
    MixtralForCausalLM,
    PreTrainedModel,
)

from tests.reference.compare import VOCABULARY, build, copy_all, randomise, real_positions
from tests.reference.weights import GPT2, LLAMA
from zoo.inference.generate import generate
from zoo.model import Model

B, T, N = 4, 9, 12
STOPS = [0, 7, 9, 13]
MARKS = {"bos_token_id": None, "eos_token_id": None, "pad_token_id": None}
SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": VOCABULARY}
SIZES |= {"intermediate_size": 40, "num_key_value_heads": 2}


def gpt2() -> tuple[Model, PreTrainedModel]:
    sizes = {"n_embd": 16, "n_layer": 2, "n_head": 4, "n_positions": T + N, "vocab_size": VOCABULARY}
    theirs = GPT2LMHeadModel(GPT2Config(**sizes, **MARKS))
    randomise(theirs)
    ours = build("model=gpt2", f"budget.context={T + N}")
    copy_all(ours, dict(theirs.named_parameters()), GPT2)
    return ours, theirs


def llama() -> tuple[Model, PreTrainedModel]:
    theirs = LlamaForCausalLM(LlamaConfig(**SIZES, **MARKS))
    randomise(theirs)
    ours = build("model=llama", "model.norm.eps=1e-6", "model.ffn.d_ff=40", "model.mixer.n_kv_heads=2")
    copy_all(ours, dict(theirs.named_parameters()), LLAMA)
    return ours, theirs


def mixtral() -> tuple[Model, PreTrainedModel]:
    theirs = MixtralForCausalLM(MixtralConfig(**SIZES, **MARKS, num_local_experts=4, num_experts_per_tok=2))
    randomise(theirs)
    ours = build("model=mixtral", "model.position.base=1e6", "model.ffn.expert.d_ff=40", "model.ffn.experts=4")
    copy_all(ours, dict(theirs.named_parameters()), LLAMA)
    return ours, theirs


FAMILIES = {"gpt2": gpt2, "llama": llama, "mixtral": mixtral}


@cache
def both(family: str) -> tuple[Model, PreTrainedModel]:
    ours, theirs = FAMILIES[family]()
    return ours, theirs.eval()


def assert_same_texts(family: str, side: str | None, ours: dict[str, object], theirs: dict[str, object]) -> Tensor:
    """Equal tokens up to each row's end; returns theirs."""
    model, reference = both(family)
    tokens = torch.randint(VOCABULARY, (B, T), generator=torch.Generator().manual_seed(1))
    real = real_positions(side, T, T - 3, 1, 5)
    mask = torch.ones_like(tokens) if real is None else real.long()
    found = generate(model, tokens, padding=real, max_new_tokens=N, stop=STOPS, **ours)
    settings = {"max_new_tokens": N, "do_sample": False, "eos_token_id": STOPS, "pad_token_id": VOCABULARY - 1}
    wanted = reference.generate(tokens, attention_mask=mask, **settings, **theirs)[:, T:]
    assert found.shape == wanted.shape
    said = found >= 0
    assert torch.equal(found[said], wanted[said])
    assert (wanted[~said] == VOCABULARY - 1).all()
    return wanted


@pytest.mark.parametrize("side", [None, "left"])
@pytest.mark.parametrize("family", FAMILIES)
def test_greedy_texts_are_those_of_hugging_face(family: str, side: str | None) -> None:
    wanted = assert_same_texts(family, side, {"temperature": 0}, {})
    assert len(set((wanted != VOCABULARY - 1).sum(1).tolist())) > 1  # rows end at different times


@pytest.mark.parametrize(("beams", "penalty"), [(2, 1.0), (5, 0.0), (4, 0.5)])
@pytest.mark.parametrize("family", ["gpt2", "llama"])
def test_texts_of_a_beam_search_are_those_of_hugging_face(family: str, beams: int, penalty: float) -> None:
    """Where theirs stops no earlier than when nothing can get better, as ours does."""
    theirs = {"num_beams": beams, "length_penalty": penalty, "early_stopping": "never"}
    assert_same_texts(family, "left", {"beams": beams, "length_penalty": penalty}, theirs)
