"""Per-position mixing: every position by itself, dense or through experts."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from jaxtyping import Float
from torch import Tensor

from zoo.ability import Ability, Able
from zoo.common import Common
from zoo.context import Context
from zoo.registry import Registry
from zoo.state import State

Auxiliary = dict[str, Tensor]
"""Named losses beside the main one, each a scalar already multiplied by its coefficient."""


class FFN(Able):
    """Contract: `FFN(common)`; no position sees another. Losses of its own are returned, never left in attributes.

    One that does look at earlier positions (the token shift of RWKV) says so by `per_position`, declares what it `can`
    do and keeps the laws of a mixer; when generating, its state comes in `context.ffn_state`.
    """

    absent: ClassVar[bool] = False
    """True: the layer has no such sublayer, nor a norm for it."""
    per_position: ClassVar[bool] = True
    """False: a position depends on others, so it can be no expert."""
    can: ClassVar[frozenset[Ability]] = frozenset(Ability)
    instead: ClassVar[Mapping[str, str]] = {}
    """Keys that say nothing where another key, here their value, is not null."""

    def __init__(self, common: Common):
        super().__init__()

    def new_state(self, capacity: int, back: int = 0) -> State | None:
        """What it carries from call to call for at most `capacity` positions, of which the last `back` may be forgotten
        again; None where positions are alone."""
        return None

    def state_elements(self, length: int) -> int:
        """Numbers that one row must keep to go on after `length` positions."""
        return 0

    @abstractmethod
    def forward(self, x: Float[Tensor, "B T D"], context: Context) -> tuple[Float[Tensor, "B T D"], Auxiliary]: ...


ffns: Registry[FFN] = Registry("ffn", FFN, __name__)
