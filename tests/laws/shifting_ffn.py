"""An ffn of our own that looks one position back, as in RWKV, for laws about parts that nobody has written yet."""

import pytest
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import pad

from tests.helpers import Node
from zoo.ability import Ability
from zoo.common import Common
from zoo.context import Context
from zoo.ffn import FFN, Auxiliary, ffns
from zoo.roles import Linear, Role
from zoo.state import State


class Last(State):
    """The last position so far."""

    def __init__(self) -> None:
        self.x: Tensor | None = None

    def tensors(self) -> list[Tensor]:
        return [] if self.x is None else [self.x]


class Shifting(FFN):
    """W x_{t−1}"""

    can = frozenset({Ability.CAUSAL, Ability.STATE})
    per_position = False

    def __init__(self, common: Common):
        super().__init__(common)
        self.down = Linear(common.d_model, common.d_model, bias=False, role=Role.RESIDUAL)

    def new_state(self, capacity: int, back: int = 0) -> Last:
        return Last()

    def state_elements(self, length: int) -> int:
        return self.down.in_features

    def forward(self, x: Float[Tensor, "B T D"], context: Context) -> tuple[Float[Tensor, "B T D"], Auxiliary]:
        before = pad(x, (0, 0, 1, 0))
        if context.ffn_state is not None:
            if context.ffn_state.x is not None:
                before = torch.cat([context.ffn_state.x, x], 1)
            context.ffn_state.x = x[:, -1:]
        return self.down(before[:, :-1]), {}


def register_shifting(monkeypatch: pytest.MonkeyPatch) -> Node:
    """Register it until the test ends; the node that chooses it."""
    ffns.names()  # finds those that there are
    monkeypatch.setattr(ffns, "_classes", dict(ffns._classes))
    ffns.register("shifting_of_a_test")(type("Shifting", (Shifting,), {"__module__": __name__}))
    return {"name": "shifting_of_a_test"}
