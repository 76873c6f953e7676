"""Which stacks exist and who sees whom."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol, runtime_checkable

from jaxtyping import Float, Int
from torch import Tensor

from zoo.ability import Ability, Able, refuse_unless
from zoo.common import Common
from zoo.context import Attend
from zoo.embedding import Embedding
from zoo.ffn import Auxiliary
from zoo.part import Part
from zoo.registry import Registry
from zoo.sequence import Sequence
from zoo.state import ModelState
from zoo.topology.stack import Stack
from zoo.traits import Traits


@runtime_checkable
class MakeStack(Protocol):
    """How a topology gets a stack: of that depth (null is `n_layers`), causal or not, with or without cross-mixers."""

    def __call__(self, n_layers: int | None, *, causal: bool, cross: bool = False) -> Stack: ...


@dataclass(frozen=True)
class Text:
    """Tokens of one stack and what is known of their places."""

    tokens: Int[Tensor, "B T"]
    sequence: Sequence


class Topology(Part):
    """Contract: `Topology(common, stack)`; the stack whose tokens are predicted is called `stack`, so that its
    parameters have the same names, and start alike, in every topology. forward gives the hidden states of the target's
    positions."""

    traits: ClassVar[Traits]
    """What an objective has to know of it."""
    needs: ClassVar[frozenset[Ability]]
    """What every mixer in it must be able to do."""
    own_depths: ClassVar[tuple[str, ...]] = ()
    """Keys for the depths of its stacks; where all are set, `n_layers` says nothing."""

    def __init__(self, common: Common, stack: MakeStack):
        super().__init__()

    @abstractmethod
    def forward(
        self, target: Text, source: Text | None, attend: Attend, state: ModelState | None = None
    ) -> tuple[Float[Tensor, "B T D"], Auxiliary]: ...

    @cached_property
    def _able(self) -> list[Able]:
        return [module for module in self.modules() if isinstance(module, Able)]

    def require(self, ability: Ability, who: str = "this batch") -> None:
        """Raise UserError unless every mixer and ffn can do that, which `who` needs."""
        for part in self._able:
            refuse_unless(part, frozenset({ability}), who)

    @property
    @abstractmethod
    def out(self) -> Embedding:
        """The embedding whose tokens the head predicts."""

    @property
    def source(self) -> Embedding | None:
        """The embedding of the source, where it has one of its own."""
        return None

    @abstractmethod
    def flops(self, queries: int, keys: int) -> int:
        """For a target of `queries` positions and, where a source is read, a source of `keys` positions."""

    @property
    @abstractmethod
    def generating(self) -> Stack | None:
        """The stack that goes on token by token; None where nothing can be generated so."""

    def state_elements(self, target: int, source: int) -> int:
        """Numbers kept per row to go on after `target` positions, with a source of `source` positions."""
        return 0 if self.generating is None else self.generating.state_elements(target, source)


topologies: Registry[Topology] = Registry("topology", Topology, __name__)
