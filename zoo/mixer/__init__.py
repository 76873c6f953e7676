"""Sequence mixing: how a position learns of the others. Attention is one way."""

from abc import abstractmethod
from typing import ClassVar

from jaxtyping import Float
from torch import Tensor

from zoo.ability import Ability, Able
from zoo.common import Common
from zoo.context import Context
from zoo.registry import Registry
from zoo.state import State


class Mixer(Able):
    """Contract: `Mixer(common)`, width in and out is d_model. It declares what it `can` do, and keeps the laws:

    - causal: no output depends on a later position
    - a row alone = the row in a padded batch = the row packed with others
    - a whole pass = the same tokens in chunks with a state
    - with a memory in the context (cross), keys and values come from there
    """

    idle_across: ClassVar[frozenset[str]] = frozenset()
    """Its keys that say nothing of a cross-mixer; one that is chosen as such may not set them."""
    head_dim: int
    """Features of one head, where rotation and per-head bias act; d_model where there are no heads."""

    def __init__(self, common: Common):
        super().__init__()
        self.head_dim = common.d_model

    @abstractmethod
    def forward(self, x: Float[Tensor, "B T D"], context: Context) -> Float[Tensor, "B T D"]: ...

    @abstractmethod
    def state_elements(self, length: int) -> int:
        """Numbers that one row must keep to go on after `length` positions."""

    @abstractmethod
    def new_state(self, capacity: int, back: int = 0) -> State:
        """An empty state for at most `capacity` positions, of which the last `back` may be forgotten again; rows, dtype
        and device are those of the first call."""

    def new_cross_state(self) -> State:
        """A state for reading one memory again and again. Only for mixers that can."""
        raise TypeError(f"{type(self).__name__} cannot {Ability.CROSS}")

    def cross_flops(self, queries: int, keys: int) -> int:
        """`flops` when it reads a memory of `keys` positions. Only for mixers that can."""
        raise TypeError(f"{type(self).__name__} cannot {Ability.CROSS}")

    def cross_state_elements(self, memory: int) -> int:
        """Numbers that one row must keep of a memory of that many positions. Only for mixers that can."""
        raise TypeError(f"{type(self).__name__} cannot {Ability.CROSS}")


mixers: Registry[Mixer] = Registry("mixer", Mixer, __name__)
