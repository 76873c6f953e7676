"""An untrained model knows nothing, and from noise there is nothing to learn."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from tests.helpers import (
    CAUSAL_TOPOLOGIES,
    MIXER_AND_POSITION,
    OPTIONS,
    PRESETS,
    TOPOLOGIES,
    build,
    call,
    draw,
    model,
    option,
    preset,
)
from zoo.model import Model

BYTES = 256
DELIBERATELY_BAD = {"too_large"}


def loss_of(model: Model, tokens: Tensor) -> Tensor:
    """Mean cross-entropy of each next token."""
    out = call(model, tokens[:, :-1]).logits
    return F.cross_entropy(out.flatten(0, 1), tokens[:, 1:].flatten())


@pytest.mark.parametrize("init", OPTIONS["init"])
@pytest.mark.parametrize("base", PRESETS)
def test_an_untrained_model_has_the_loss_of_a_guess(base: str, init: str) -> None:
    """log V for logits of 0; logits of unit variance add 1/2 to it."""
    built = build(preset(base) | {"init": option("init", init)}, vocabulary=BYTES)
    with torch.no_grad():
        excess = loss_of(built, draw(4, 33, vocabulary=BYTES)) - math.log(BYTES)
    if init in DELIBERATELY_BAD:
        assert excess > 3
    else:
        assert -0.02 < excess < 0.8


@pytest.mark.parametrize("base", PRESETS)
def test_a_preset_starts_at_log_vocabulary_with_the_init_it_chose(base: str) -> None:
    built = build(preset(base), vocabulary=BYTES)
    with torch.no_grad():
        assert loss_of(built, draw(4, 33, vocabulary=BYTES)) == pytest.approx(math.log(BYTES), rel=0.1)


def learn_from_noise(built: Model) -> float:
    """What training on fresh noise adds to the loss on fresh noise. Rows are so short that a model which sees the
    future finds most targets among few candidates; it gains 0.1 nats and more in these few steps."""
    steps, width, vocabulary = 30, 6, 8
    optimizer = torch.optim.Adam(built.parameters(), lr=1e-2, fused=True)
    for step in range(steps):
        optimizer.zero_grad()
        loss_of(built, draw(64, width, seed=step, vocabulary=vocabulary)).backward()
        optimizer.step()
    with torch.no_grad():
        return loss_of(built, draw(2048, width, seed=steps, vocabulary=vocabulary)).item() - math.log(vocabulary)


@pytest.mark.parametrize(("mixer", "position"), MIXER_AND_POSITION)
def test_no_causal_mixer_learns_from_noise(mixer: str, position: str) -> None:
    assert learn_from_noise(model(mixer=mixer, position=position, n_layers=1)) > -0.02


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_a_topology_learns_from_noise_exactly_when_it_sees_the_future(topology: str) -> None:
    gained = learn_from_noise(model(topology=topology))
    assert gained > -0.02 if topology in CAUSAL_TOPOLOGIES else gained < -0.1
