"""Dropout acts at its rate while training, everywhere, and never in evaluation."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.helpers import (
    EVERY_OPTION,
    LENGTH,
    OPTIONS,
    TOPOLOGIES,
    TRAINED,
    call,
    close,
    common,
    context,
    draw,
    model,
    option,
    plain_sequence,
    randomise,
)
from zoo.context import Context, Scores
from zoo.dropout import Dropout, dropouts_of, seed_dropout
from zoo.luck import derived_seed
from zoo.mixer.backend import BACKENDS
from zoo.position import positions
from zoo.schema import parse_option

CPU = torch.device("cpu")


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("axis", "name"), [pair for pair in EVERY_OPTION if pair[0] != "topology"])
@torch.no_grad()
def test_evaluation_is_deterministic_and_training_is_not(axis: str, name: str, backend: str) -> None:
    built = model("transformer_2017", dropout=0.5, **{axis: name})
    tokens = draw(2)
    first, second = (call(built, tokens, backend=backend).logits for _ in range(2))
    assert torch.equal(first, second)
    built.train()
    assert not torch.equal(first, call(built, tokens, backend=backend).logits)


def attention_weights(backend: str, dropout: float, causal: bool) -> Tensor:
    """What a backend gives to each of 64 keys when all scores are alike, read from values that are unit vectors."""
    seen = context(plain_sequence(64, rows=64), causal=causal)
    zeros, values = torch.zeros(64, 1, 64, 64), torch.eye(64).expand(64, 1, -1, -1)
    return BACKENDS[backend](zeros, zeros, values, seen, Scores(1.0, None, Dropout(dropout)))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_backend_drops_attention_weights_at_the_rate_and_scales_the_rest(backend: str, causal: bool) -> None:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        weights, kept = (attention_weights(backend, rate, causal) for rate in (0.3, 0.0))
    alive = kept > 0
    assert (weights[alive] == 0).float().mean() == pytest.approx(0.3, rel=0.02)
    left = weights[alive] > 0
    assert close(weights[alive][left], kept[alive][left] / 0.7)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("position", OPTIONS["position"])
def test_queries_do_not_share_their_masks_though_a_scheme_attends_in_parts(position: str, backend: str) -> None:
    """Also beyond the trained length. Which keys a query drops is read from values that are unit vectors."""
    scheme = randomise(positions.build(parse_option("position", option("position", position), "position"), common()))
    seen = replace(context(plain_sequence(LENGTH, rows=2), position=scheme), attend=BACKENDS[backend])
    dropout = Dropout(0.5)
    seed_dropout({"weights": dropout}, CPU, 5, 0)
    zeros, values = torch.zeros(2, 4, LENGTH, 16), torch.eye(LENGTH).expand(2, 4, -1, -1)
    attended = scheme.attend(zeros, zeros, values, seen, Scores(1.0, None, dropout))
    dropped = (attended[:, :, TRAINED:, :TRAINED] == 0).transpose(1, 2).flatten(2)  # of keys that all of these see
    assert len(dropped.unique(dim=1)[0]) == LENGTH - TRAINED


@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize("mixer", OPTIONS["mixer"])
def test_attention_is_told_the_rate_of_the_model_while_training_and_zero_after(
    mixer: str, topology: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rates: list[float] = []

    def attend(q: Tensor, k: Tensor, v: Tensor, seen: Context, scores: Scores) -> Tensor:
        rates.append(scores.dropout.active)
        return q

    monkeypatch.setitem(BACKENDS, "plain", attend)
    built = model(mixer=mixer, topology=topology, dropout=0.25)
    for training, rate in ((True, 0.25), (False, 0.0)):
        call(built.train(training), draw(1))
        assert set(rates) == {rate}
        rates.clear()


@pytest.mark.parametrize("block", OPTIONS["block"])
def test_embeddings_and_sublayers_are_dropped_at_the_rate_of_the_model(block: str) -> None:
    built = model("transformer_2017", block=block, dropout=0.25, d_model=64).train()
    dropped: list[Tensor] = []

    def keep(module: nn.Module, arguments: tuple[Tensor], output: Tensor) -> None:
        dropped.append(output[arguments[0] != 0] == 0)

    for module in built.modules():
        if isinstance(module, Dropout):
            module.register_forward_hook(keep)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        call(built, draw(32), source=draw(32, LENGTH, seed=1))
    sublayers = 2 * 2 + 2 * 3  # of two encoder layers and of two decoder layers
    attention = 2 * 1 + 2 * 2
    assert len(dropped) == 2 + sublayers + attention
    assert all(zeros.float().mean() == pytest.approx(0.25, rel=0.03) for zeros in dropped)


@pytest.mark.parametrize(
    "changes", [{"n_heads": 2}, {"mixer": "mqa"}, {"ffn": "moe"}, {"norm": "none"}, {"n_layers": 1}]
)
def test_swapping_a_part_moves_no_other_parts_dropout(changes: dict[str, Any]) -> None:
    """Which features each sublayer's dropout hides, by where it stands."""

    def hidden(**swap: Any) -> dict[str, Tensor]:
        built = model(dropout=0.5, **swap).train()
        found: dict[str, Tensor] = {}

        def keep(name: str) -> Any:
            return lambda module, arguments, output: found.update({name: output == 0})

        for name, module in built.named_modules():
            if isinstance(module, Dropout) and not name.endswith("mixer.dropout"):
                module.register_forward_hook(keep(name))
        seed_dropout(dropouts_of(built), CPU, 5, 0)
        call(built, draw(2))
        return found

    before, after = hidden(), hidden(**changes)
    assert len(before.keys() & after.keys()) >= 3
    for name in before.keys() & after.keys():
        assert (before[name] == after[name]).float().mean() > 0.99, name  # an activation may be 0 by itself


def test_a_part_drops_what_the_stream_of_its_seed_says() -> None:
    """The numbers are torch's own after `torch.manual_seed`, though no other kind of device is seeded."""
    dropout, ones = Dropout(0.5), torch.ones(50)
    seed_dropout({"a": dropout}, CPU, 3)
    after = torch.rand(2)
    first = dropout(ones)
    torch.manual_seed(derived_seed("dropout", 3, "a"))
    assert torch.equal(first, torch.nn.functional.dropout(ones, 0.5))
    torch.manual_seed(derived_seed("dropout", 3))
    assert torch.equal(after, torch.rand(2))
