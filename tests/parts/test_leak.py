"""A plugin's part that lets the future in is told before it is trained; what training draws stays the same."""

from collections.abc import Callable

import pytest
import torch
from jaxtyping import Float
from torch import Tensor

from tests.helpers import build, model_node
from tests.laws.decay_mixer import Decay
from zoo.ability import Ability
from zoo.context import Context
from zoo.errors import UserError
from zoo.leak import refuse_leaks
from zoo.mixer import mixers
from zoo.model import Model

Mix = Callable[[Decay, Tensor], Tensor]

LEAKS: dict[str, Mix] = {
    "the mean of all": lambda self, x: x.mean(1, keepdim=True).expand_as(x),
    "the next": lambda self, x: x.roll(-1, 1),
    "one far away": lambda self, x: x.roll(-8, 1),
}
KEEPS: dict[str, Mix] = {
    "each by itself": lambda self, x: x * self.rates.sum(0),
    "the sum so far": lambda self, x: x.cumsum(1),
    "noise": lambda self, x: x + torch.randn_like(x),
}


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Model]:
    """A model with a mixer of our own that computes that."""
    monkeypatch.setattr(mixers, "_classes", {one: mixers.get(one) for one in mixers.names()})

    def call(mix: Mix, **axes: object) -> Model:
        class Mine(Decay):
            can = frozenset(Ability)

            def forward(self, x: Float[Tensor, "B T D"], context: Context) -> Float[Tensor, "B T D"]:
                return mix(self, x)

        mixers.register("mine")(Mine)
        return build(model_node(mixer={"name": "mine"}, **axes)).train()

    return call


@pytest.mark.parametrize("topology", ["decoder_only", "encoder_decoder", "prefix_lm"])
@pytest.mark.parametrize("name", LEAKS)
def test_a_mixer_that_lets_the_future_in_is_refused_by_its_name(
    built: Callable[..., Model], name: str, topology: str
) -> None:
    with pytest.raises(UserError, match=r"^mixer 'mine' \(of tests\.parts\.test_leak\) lets the future in"):
        refuse_leaks(built(LEAKS[name], topology=topology), 16)


@pytest.mark.parametrize("name", KEEPS)
def test_one_that_does_not_goes_on_and_nothing_is_drawn(built: Callable[..., Model], name: str) -> None:
    made, before = built(KEEPS[name]), torch.get_rng_state()
    refuse_leaks(made, 16)
    assert torch.equal(torch.get_rng_state(), before)
    assert made.training
    assert not any(one._forward_hooks for one in made.modules())


def test_what_sees_both_sides_may(built: Callable[..., Model]) -> None:
    refuse_leaks(built(LEAKS["the mean of all"], topology="encoder_only"), 16)


def test_a_leak_that_the_model_does_not_read_yet_is_seen_in_the_part(built: Callable[..., Model]) -> None:
    made = built(LEAKS["the mean of all"])
    read = made.read
    made.read = lambda *given, **named: (torch.zeros_like(read(*given, **named)[0]), {})  # type: ignore[method-assign]
    with pytest.raises(UserError, match="lets the future in"):
        refuse_leaks(made, 16)


def test_parts_of_the_zoo_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Model, "read", lambda *_, **__: pytest.fail("read"))
    refuse_leaks(build(model_node()), 16)
