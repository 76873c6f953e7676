"""Topologies of one stack. Its parameters have the same names in all of them, so they start identical."""

from jaxtyping import Float
from torch import Tensor

from zoo.common import Common
from zoo.context import Attend
from zoo.embedding import Embedding
from zoo.ffn import Auxiliary
from zoo.state import ModelState
from zoo.topology import MakeStack, Text, Topology
from zoo.topology.stack import Stack


class SingleStack(Topology):
    """Everything is read by one stack, causal or not."""

    def __init__(self, common: Common, stack: MakeStack):
        super().__init__(common, stack)
        self.stack = stack(None, causal=self.traits.generates)

    @property
    def out(self) -> Embedding:
        return self.stack.embedding

    def forward(
        self, target: Text, source: Text | None, attend: Attend, state: ModelState | None = None
    ) -> tuple[Float[Tensor, "B T D"], Auxiliary]:
        return self.stack(target.tokens, target.sequence, attend=attend, state=state)

    def flops(self, queries: int, keys: int) -> int:
        return self.stack.flops(queries, queries)

    @property
    def generating(self) -> Stack | None:
        return self.stack if self.traits.generates else None
