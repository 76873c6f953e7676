"""A mixer of our own, for laws about parts that nobody has written yet."""

import pytest
import torch
from jaxtyping import Float
from torch import Tensor, nn

from tests.helpers import Node
from zoo.ability import Ability
from zoo.common import Common
from zoo.context import Context
from zoo.mixer import Mixer, mixers
from zoo.roles import Role, set_role


class Decay(Mixer):
    """A mixer with a parameter that only it knows how to start."""

    can = frozenset(Ability)

    def __init__(self, common: Common):
        super().__init__(common)
        self.rates = nn.Parameter(torch.empty(2, common.d_model))
        set_role(self, "rates", Role.OWN, fill=lambda values, generator: values.uniform_(5, 6, generator=generator))

    def forward(self, x: Float[Tensor, "B T D"], context: Context) -> Float[Tensor, "B T D"]:
        return x * self.rates.sum(0)

    def state_elements(self, length: int) -> int:
        return 0


def register_decay(monkeypatch: pytest.MonkeyPatch, can: frozenset[Ability]) -> Node:
    """Register it with these abilities until the test ends; the node that chooses it. Its name says what it lacks: two
    that differ are never taken for one."""
    name = "_".join(["decay", *(ability.name.lower() for ability in Ability if ability not in can)])
    monkeypatch.setattr(mixers, "_classes", {one: mixers.get(one) for one in mixers.names()})
    mixers.register(name)(type("Decay", (Decay,), {"can": can, "__module__": __name__}))
    return {"name": name}
