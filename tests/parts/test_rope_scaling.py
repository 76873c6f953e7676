"""Rotary schemes for texts longer than trained: their published formulas, and bases that follow what a query sees."""

import math

import pytest
import torch
from torch import Tensor
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from tests.helpers import close, context, draw, logits, model, noise, option, part, plain_sequence, refusal
from zoo.context import Scores
from zoo.inference.looking import look
from zoo.sequence import Sequence

WIDTH = 64
CPU = torch.device("cpu")
LLAMA3 = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}


def theirs(kind: str, trained: int, length: int | None = None, **values: float) -> Tensor:
    """The frequencies of transformers."""
    parameters = {"rope_type": kind, "rope_theta": 10000.0, **values}
    config = LlamaConfig(
        hidden_size=WIDTH, num_attention_heads=1, max_position_embeddings=trained, rope_parameters=parameters
    )
    found, scale = ROPE_INIT_FUNCTIONS[kind](config, CPU, seq_len=length)
    assert scale == 1.0
    return found


@pytest.mark.parametrize(
    ("factor", "length", "base"),
    [(2.0, 1024, 10000.0), (2.0, 2048, 10000.0), (2.0, 4096, 31082.0), (4.0, 8192, 141214.0)],
)
def test_the_base_of_dynamic_ntk_rises_with_the_length_beyond_the_trained_one(
    factor: float, length: int, base: float
) -> None:
    """It depends on the length, and the frequencies are those of transformers."""
    scheme = part("position", "rope_ntk", trained=2048, factor=factor)
    found = scheme.base_at(torch.tensor(length), WIDTH)
    assert found.item() == pytest.approx(base, rel=1e-5)
    ours = found ** (-torch.arange(0, WIDTH, 2).double() / WIDTH)
    assert close(ours.float(), theirs("dynamic", 2048, length, factor=factor), 1e-6)


def test_linear_and_llama3_frequencies_are_those_of_transformers() -> None:
    linear = part("position", "rope_linear", factor=2.5).frequencies(WIDTH, CPU)
    assert close(linear.float(), theirs("linear", 2048, factor=2.5), 1e-7)
    llama3 = part("position", "rope_llama3", trained=8192, factor=8.0, low=1.0, high=4.0).frequencies(WIDTH, CPU)
    assert torch.allclose(llama3.float(), theirs("llama3", 131072, **LLAMA3), rtol=1e-5, atol=0)
    plain = part("position", "rope").frequencies(WIDTH, CPU)
    shares = plain / llama3
    assert shares[0] == pytest.approx(1.0)
    assert shares[-1] == pytest.approx(8.0)
    assert ((shares > 1.01) & (shares < 7.9)).any()


def by_hand(q: Tensor, k: Tensor, v: Tensor, trained: int, factor: float) -> Tensor:
    """Causal attention of one head, in complex float64: query t and its keys at the base of the length t + 1."""
    width = q.shape[-1]
    rows = []
    for t in range(len(q)):
        stretched = factor * max(t + 1, trained) / trained - (factor - 1)
        base = 10000.0 * stretched ** (width / (width - 2))
        turns = base ** (-torch.arange(0, width, 2).double() / width)
        ours, others = (torch.complex(*one.double().chunk(2, -1)) for one in (q[t], k[: t + 1]))
        distance = t - torch.arange(t + 1)[:, None]
        scores = (ours * others.conj() * torch.polar(torch.ones_like(distance * turns), distance * turns)).real.sum(-1)
        rows.append((scores / math.sqrt(width)).softmax(0) @ v[: t + 1].double())
    return torch.stack(rows)


def test_each_query_meets_all_keys_at_the_base_of_the_length_it_sees() -> None:
    scheme = part("position", "rope_ntk", trained=5, factor=4.0)
    q, k, v = (noise(1, 1, 12, 8, seed=seed) for seed in range(3))
    scores = Scores(8**-0.5, None, model().topology.stack.blocks[0].mixer.dropout)
    found = scheme.attend(q, k, v, context(plain_sequence(12), position=scheme), scores)
    assert close(found[0, 0].double(), by_hand(q[0, 0], k[0, 0], v[0, 0], 5, 4.0))


def test_up_to_the_trained_length_dynamic_ntk_is_rope() -> None:
    tokens = draw(2, 20)
    ntk = logits(model(position=option("position", "rope_ntk") | {"trained": 12}), tokens)
    rope = logits(model(position="rope"), tokens)
    assert close(ntk[:, :12], rope[:, :12])
    assert not close(ntk[:, 13:], rope[:, 13:], 1e-3)


def test_a_single_pair_has_no_base_to_stretch() -> None:
    tokens = draw(2, 20)
    ntk, rope = (option("position", name) | {"fraction": 0.5} for name in ("rope_ntk", "rope"))
    assert close(logits(model(position=ntk), tokens), logits(model(position=rope), tokens))


def test_the_weights_of_a_scheme_that_works_column_by_column_are_looked_at_as_one() -> None:
    built = model(position="rope_ntk")
    seen = look(built, draw(1, 20))
    assert [one.layer for one in seen.looked] == [0, 1]
    for one in seen.looked:
        assert one.weights.shape == (4, 20, 20)
        assert close(one.weights.sum(-1), torch.ones(4, 20))


@pytest.mark.parametrize("length", [3, 4096])
def test_angles_stay_exact_far_out_and_in_half_precision(length: int) -> None:
    """Nothing that a cast could spoil."""
    for name in ("rope_linear", "rope_llama3"):
        scheme = part("position", name, **({"trained": 64} if name == "rope_llama3" else {})).to(torch.bfloat16)
        sequence = Sequence(torch.tensor([[length - 1]]))
        cos, _ = scheme.waves(torch.zeros(1, 1, 1, 8, dtype=torch.bfloat16), context(sequence, position=scheme))
        exact = ((length - 1) * scheme.frequencies(8, CPU)).cos()
        assert close(cos.flatten().double(), exact, 1e-3 + torch.finfo(torch.bfloat16).eps)


@pytest.mark.parametrize(
    ("name", "changes", "said"),
    [
        ("rope_linear", {"factor": 0.5}, "model.position.factor=0.5 must be at least 1"),
        ("rope_ntk", {"trained": 0}, "model.position.trained=0 must be at least 1"),
        ("rope_llama3", {"low": 4.0}, "model.position.high=4.0 must be above model.position.low=4.0"),
    ],
)
def test_a_scaling_that_is_none_is_refused(name: str, changes: dict[str, float], said: str) -> None:
    assert said in refusal(position=option("position", name) | changes)
