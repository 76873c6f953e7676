"""What cannot be learned is not learned: on random tokens no causal model gets below log V, or it sees its targets."""

import math
from collections.abc import Iterator

import pytest
import torch
from torch.nn.functional import cross_entropy

from tests.helpers import CAUSAL_TOPOLOGIES, EVERY_OPTION, call, model
from zoo.model import Model

V, ROWS, LENGTH, STEPS = 13, 4, 16, 300


def batches() -> Iterator[torch.Tensor]:
    source = torch.Generator().manual_seed(5)
    for _ in range(STEPS):
        yield torch.randint(0, V, (ROWS, LENGTH + 1), generator=source)


def train(learner: Model, shift: int) -> float:
    """The mean loss of the last third; the target stands `shift` places after the token at which it is asked."""
    learner.train()
    optimizer = torch.optim.AdamW(learner.parameters(), lr=3e-3, fused=True)
    losses = []
    for tokens in batches():
        out = call(learner, tokens[:, :-1])
        wanted = tokens[:, shift : LENGTH + shift]
        loss = cross_entropy(out.logits.flatten(0, 1), wanted.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return sum(losses[-STEPS // 3 :]) / (STEPS // 3)


CAUSAL = [(axis, option) for axis, option in EVERY_OPTION if axis not in ("topology", "init")]
CAUSAL += [("topology", name) for name in CAUSAL_TOPOLOGIES]


@pytest.mark.parametrize(("axis", "option"), CAUSAL)
def test_noise_cannot_be_learned(axis: str, option: str) -> None:
    """Fresh tokens in every step, so that nothing can be memorised: 6,400 targets give log V ± 0.02 only to luck."""
    assert train(model(n_layers=1, **{axis: option}), 1) > math.log(V) - 0.02


def test_what_can_be_seen_is_learned_in_as_many_steps() -> None:
    """The same trainer, asked for the token it stands on, as a leak would show."""
    assert train(model(mixer="mha", n_layers=1), 0) < 0.1
