"""The two shapes of a dense FFN; an activation makes either an option."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from jaxtyping import Float
from torch import Tensor

from zoo.common import Common
from zoo.context import Context
from zoo.errors import HERE, PartError
from zoo.ffn import FFN, Auxiliary
from zoo.knob import Knob
from zoo.roles import Linear, Role

WIDTH = {"ratio": "d_ff", "multiple_of": "d_ff"}
"""What says the hidden width, and what does so in its place."""


def hidden_width(d_model: int, d_ff: int | None, ratio: float, multiple_of: int) -> int:
    """F: `d_ff` if given, else ratio · D rounded to the nearest multiple of `multiple_of` (at least one).

    A plain FFN has 2·D·F weights and a gated one 3·D·F, so ratio 4 and ratio 8/3 are of equal size up to the rounding.
    """
    for key, value in {"d_ff": d_ff, "ratio": ratio, "multiple_of": multiple_of}.items():
        if value is not None and not value > 0:
            raise PartError(f"{HERE}.{key}={value} must be above 0")
    return max(1, round(d_model * ratio / multiple_of)) * multiple_of if d_ff is None else d_ff


class Dense(FFN):
    """What both shapes share."""

    knobs = (Knob("d_ff"),)
    instead = WIDTH

    @classmethod
    def unset(cls, common: Common, values: Mapping[str, Any]) -> Mapping[str, Any]:
        width = hidden_width(common.d_model, None, values["ratio"], values["multiple_of"])
        return {"d_ff": width, "bias": common.bias}


class Plain(Dense):
    """W₂ activate(W₁ x)."""

    def __init__(self, common: Common, *, d_ff: int | None, ratio: float, multiple_of: int, bias: bool | None):
        super().__init__(common)
        width = hidden_width(common.d_model, d_ff, ratio, multiple_of)
        bias = common.bias if bias is None else bias
        self.up = Linear(common.d_model, width, bias=bias)
        self.down = Linear(width, common.d_model, bias=bias, role=Role.RESIDUAL)

    @abstractmethod
    def activate(self, x: Float[Tensor, "B T F"]) -> Float[Tensor, "B T F"]: ...

    def forward(self, x: Float[Tensor, "B T D"], context: Context) -> tuple[Float[Tensor, "B T D"], Auxiliary]:
        return self.down(self.activate(self.up(x))), {}


class Gated(Dense):
    """W₂ (activate(W_g x) · W₁ x)."""

    def __init__(self, common: Common, *, d_ff: int | None, ratio: float, multiple_of: int, bias: bool | None):
        super().__init__(common)
        width = hidden_width(common.d_model, d_ff, ratio, multiple_of)
        bias = common.bias if bias is None else bias
        self.gate = Linear(common.d_model, width, bias=bias, role=Role.GATE)
        self.up = Linear(common.d_model, width, bias=bias)
        self.down = Linear(width, common.d_model, bias=bias, role=Role.RESIDUAL)

    @abstractmethod
    def activate(self, x: Float[Tensor, "B T F"]) -> Float[Tensor, "B T F"]: ...

    def forward(self, x: Float[Tensor, "B T D"], context: Context) -> tuple[Float[Tensor, "B T D"], Auxiliary]:
        return self.down(self.activate(self.gate(x)) * self.up(x)), {}
