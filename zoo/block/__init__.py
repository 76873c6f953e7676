"""How the sublayers of one layer meet the residual stream."""

from abc import abstractmethod
from typing import ClassVar

from jaxtyping import Float
from torch import Tensor

from zoo.common import Common
from zoo.context import Context
from zoo.dropout import Dropout
from zoo.ffn import FFN, Auxiliary
from zoo.mixer import Mixer
from zoo.part import Part
from zoo.registry import Registry
from zoo.state import Layer


class Block(Part):
    """Contract: `Block(common, mixer, cross, ffn)`: mixer, then cross-mixer and ffn where there is one, each added to
    the residual stream after dropout. It makes its norms by `common.norm(width)`, for the sublayers that there are."""

    closes: ClassVar[bool]
    """Whether its output is normalised already; if not, the stack ends with one more norm."""
    alpha: float = 1.0
    """What the stream is multiplied by before the output of a sublayer is added to it."""

    def __init__(self, common: Common, mixer: Mixer, cross: Mixer | None, ffn: FFN | None):
        super().__init__()
        self.mixer, self.cross, self.ffn = mixer, cross, ffn
        self.mixer_dropout = Dropout(common.dropout)
        self.cross_dropout = Dropout(common.dropout)
        self.ffn_dropout = Dropout(common.dropout)

    @abstractmethod
    def forward(self, x: Float[Tensor, "B T D"], context: Context) -> tuple[Float[Tensor, "B T D"], Auxiliary]: ...

    def new_state(self, capacity: int, back: int = 0) -> Layer:
        """The states of its sublayers."""
        cross = None if self.cross is None else self.cross.new_cross_state()
        ffn = None if self.ffn is None else self.ffn.new_state(capacity, back)
        return Layer(self.mixer.new_state(capacity, back), cross, ffn)

    @property
    def writes(self) -> int:
        """How often it writes into the residual stream: once for each sublayer."""
        return sum(sublayer is not None for sublayer in (self.mixer, self.cross, self.ffn))

    def flops(self, queries: int, keys: int) -> int:
        """Without the cross-mixer, whose keys are another sequence: see `cross_flops`."""
        return self.mixer.flops(queries, keys) + (0 if self.ffn is None else self.ffn.flops(queries, keys))

    def cross_flops(self, queries: int, memory: int) -> int:
        """What the cross-mixer adds when it reads `memory` positions; 0 without one."""
        return 0 if self.cross is None else self.cross.cross_flops(queries, memory)

    def state_elements(self, length: int, memory: int) -> int:
        """What mixer and ffn keep after `length` positions and the cross-mixer of `memory` positions."""
        cross = 0 if self.cross is None else self.cross.cross_state_elements(memory)
        ffn = 0 if self.ffn is None else self.ffn.state_elements(length)
        return self.mixer.state_elements(length) + cross + ffn


blocks: Registry[Block] = Registry("block", Block, __name__)
