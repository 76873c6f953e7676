"""Position schemes that add to the scores: slopes, buckets, and the same numbers whether cached or not."""

import math

import pytest
import torch
from torch import Tensor
from transformers.models.t5.modeling_t5 import T5Attention

from tests.helpers import (
    CAUSAL_TOPOLOGIES,
    OPTIONS,
    build,
    close,
    common,
    context,
    draw,
    model,
    model_node,
    noise,
    option,
    part,
    plain_sequence,
    refusal,
)
from zoo.position.alibi import slopes


def powers(*exponents: float) -> list[float]:
    return [2.0**-exponent for exponent in exponents]


def test_alibi_slopes_are_those_of_the_paper_and_of_its_code_for_other_numbers_of_heads() -> None:
    assert slopes(4) == pytest.approx(powers(2, 4, 6, 8))
    assert slopes(6) == pytest.approx(powers(2, 4, 6, 8, 1, 3))
    assert slopes(8) == pytest.approx(powers(*range(1, 9)))
    assert slopes(12) == pytest.approx(powers(*range(1, 9), 0.5, 1.5, 2.5, 3.5))
    assert slopes(1) == powers(8)


def test_alibi_under_a_causal_mask_is_its_one_row_form() -> None:
    """A softmax forgets what is the same in a whole row, so −m·(i − j) is m·j, as far as later keys are hidden."""
    alibi, seen = part("position", "alibi"), context(plain_sequence(9))
    scores = noise(1, 4, 9, 9)
    one_row = torch.tensor(slopes(4))[:, None, None] * torch.arange(9)
    hidden = torch.ones(9, 9, dtype=torch.bool).triu(1)
    bias = alibi.bias(noise(1, 4, 9, 8), seen)
    full = scores + bias
    assert close(*((one.masked_fill(hidden, -math.inf)).softmax(-1) for one in (full, scores + one_row)))
    assert torch.equal(bias, bias.mT)  # which is why only the whole form serves where both sides are seen


def test_t5_buckets_are_those_of_the_paper() -> None:
    both, causal = part("position", "t5", shared=common(causal=False)), part("position", "t5")
    ahead = torch.tensor([0, -1, 1, -8, 8, -1000, 1000])
    assert both.bucket(ahead).tolist() == [0, 1, 17, 8, 24, 15, 31]
    ahead = torch.tensor([0, -1, -16, -128, -1000, 1, 50])
    assert causal.bucket(ahead).tolist() == [0, 1, 16, 31, 31, 0, 0]


@pytest.mark.parametrize(("buckets", "max_distance"), [(32, 128), (16, 40), (8, 1000)])
@pytest.mark.parametrize("both_sides", [True, False])
def test_t5_buckets_are_those_of_hugging_face(both_sides: bool, buckets: int, max_distance: int) -> None:
    ahead = torch.arange(-1500, 1500)
    shared = common(causal=not both_sides)
    found = part("position", "t5", shared=shared, buckets=buckets, max_distance=max_distance).bucket(ahead)
    theirs = T5Attention._relative_position_bucket(ahead, both_sides, buckets, max_distance)
    assert torch.equal(found, theirs)


@pytest.mark.parametrize("topology", CAUSAL_TOPOLOGIES)
@pytest.mark.parametrize("position", ["alibi", "t5"])
def test_a_bias_stays_where_it_is_once_there_is_a_state(position: str, topology: str) -> None:
    """Large distinct numbers, so that one place off would show."""
    built = model(position=position, topology=topology)
    with torch.no_grad():
        for name, parameter in built.named_parameters():
            if "positions" in name:
                parameter.copy_(torch.randperm(parameter.numel()).view_as(parameter) / 4)
    tokens = draw(2, 30)
    source: dict[str, Tensor] = {"source": draw(2, 9)} if built.topology.traits.reads_source else {}
    whole = built(tokens, **source).logits
    state = built.start(2, 30)
    chunks = [built(part, state=state, **(source if not i else {})).logits for i, part in enumerate(tokens.split(1, 1))]
    assert close(torch.cat(chunks, 1), whole)


@pytest.mark.parametrize("values", [{"buckets": 2}, {"buckets": 7}, {"max_distance": 4}])
def test_buckets_that_tell_nothing_apart_are_refused(values: dict[str, int]) -> None:
    node = {"name": "t5", "buckets": 32, "max_distance": 128} | values
    assert "must be even and at least 4" in refusal("bert", position=node)


@pytest.mark.parametrize("init", OPTIONS["init"])
@pytest.mark.parametrize("heads", [2, 8])
def test_the_bias_of_t5_starts_as_in_its_code_whatever_the_heads_and_the_init(heads: int, init: str) -> None:
    node = model_node(position=option("position", "t5") | {"buckets": 512, "max_distance": 1024}, n_heads=heads)
    built = build(node | {"d_model": 64, "n_layers": 1, "init": option("init", init)})
    (bias,) = built.topology.stack.positions.values()
    assert float(bias.weight.detach().std()) == pytest.approx(64**-0.5, rel=0.1)
