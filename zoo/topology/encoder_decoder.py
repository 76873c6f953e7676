from collections.abc import Mapping
from typing import Any

from jaxtyping import Float
from torch import Tensor

from zoo.ability import Ability
from zoo.common import Common
from zoo.context import Attend
from zoo.embedding import Embedding
from zoo.errors import UserError
from zoo.ffn import Auxiliary
from zoo.state import Memory, ModelState
from zoo.topology import MakeStack, Text, Topology, topologies
from zoo.topology.stack import Stack
from zoo.traits import Traits


@topologies.register("encoder_decoder")
class EncoderDecoder(Topology):
    """An encoder reads the source from both sides; a causal decoder reads the target so far and, through a cross-mixer
    in every layer, what the encoder made of the source.

    n_encoder_layers, n_decoder_layers: null is the model's n_layers

    paper: Vaswani et al. 2017, arXiv:1706.03762, section 3.1
    differs: each stack has its own token table unless `embedding.tie` is all.
    """

    traits = Traits(generates=True, reads_source=True)
    needs = frozenset({Ability.CAUSAL, Ability.BIDIRECTIONAL})
    own_depths = ("n_encoder_layers", "n_decoder_layers")

    @classmethod
    def unset(cls, common: Common, values: Mapping[str, Any]) -> Mapping[str, Any]:
        return dict.fromkeys(cls.own_depths, common.depth)

    def __init__(
        self,
        common: Common,
        stack: MakeStack,
        *,
        n_encoder_layers: int | None = None,
        n_decoder_layers: int | None = None,
    ):
        super().__init__(common, stack)
        self.stack = stack(
            n_decoder_layers, causal=True, cross=True
        )  # the decoder; first, so that it names a tied table
        self.encoder = stack(n_encoder_layers, causal=False)

    @property
    def out(self) -> Embedding:
        return self.stack.embedding

    @property
    def source(self) -> Embedding:
        return self.encoder.embedding

    def forward(
        self, target: Text, source: Text | None, attend: Attend, state: ModelState | None = None
    ) -> tuple[Float[Tensor, "B T D"], Auxiliary]:
        memory, auxiliary = self._read(source, attend, state)
        hidden, more = self.stack(target.tokens, target.sequence, attend=attend, memory=memory, state=state)
        return hidden, {**auxiliary, **{name: loss + auxiliary.get(name, 0.0) for name, loss in more.items()}}

    def _read(self, source: Text | None, attend: Attend, state: ModelState | None) -> tuple[Memory, Auxiliary]:
        """What the encoder makes of the source; from the state if an earlier call has read it."""
        if state is not None and state.memory is not None:
            if source is not None:
                raise UserError("this state has read its source already; leave out source=, or start another state")
            return state.memory, {}
        if source is None:
            raise UserError("an encoder_decoder reads a source: call model(target, source=...)")
        states, auxiliary = self.encoder(source.tokens, source.sequence, attend=attend)
        read = source.sequence
        memory = Memory(states, read.positions, read.real, read.documents)
        if state is not None:
            state.memory = memory.apart()
        return memory, auxiliary

    def flops(self, queries: int, keys: int) -> int:
        encoder, decoder = self.encoder.flops(keys, keys), self.stack.flops(queries, queries)
        return encoder + decoder + self.stack.cross_flops(queries, keys)

    @property
    def generating(self) -> Stack:
        return self.stack
