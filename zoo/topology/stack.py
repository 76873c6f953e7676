"""One stack of layers: tokens to hidden states."""

from collections.abc import Iterator
from dataclasses import replace
from typing import cast

from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from zoo.block import Block
from zoo.context import Attend, Context
from zoo.embedding import Embedding
from zoo.ffn import Auxiliary
from zoo.part import Part
from zoo.position import Position
from zoo.sequence import Sequence
from zoo.state import Layer, Memory, ModelState


class Stack(Part):
    """embed, add the position, run the blocks, close with a norm unless the blocks do.

    `schemes[i]` names the position scheme of layer i in `positions`; usually all layers have one.
    """

    def __init__(
        self,
        embedding: Embedding,
        positions: dict[str, Position],
        schemes: list[str],
        blocks: list[Block],
        closing_norm: nn.Module,
        causal: bool,
    ):
        super().__init__()
        self.embedding = embedding
        self.positions = cast(dict[str, Position], nn.ModuleDict(positions))  # typed by content
        self.schemes = schemes
        self.blocks = cast(list[Block], nn.ModuleList(blocks))
        self.closing_norm = closing_norm
        self.causal = causal
        self.recompute = False  # set by the runtime: memory for time, the numbers stay

    def forward(
        self,
        tokens: Int[Tensor, "B T"],
        sequence: Sequence,
        *,
        attend: Attend,
        memory: Memory | None = None,
        state: ModelState | None = None,
    ) -> tuple[Float[Tensor, "B T D"], Auxiliary]:
        keys = sequence
        if state is not None:
            sequence, keys = state.history.extend(sequence)
        x = self.embedding(tokens)
        for position in self.positions.values():
            x = position.embed(x, sequence)
        x = self.embedding.close(x)
        total: Auxiliary = {}
        for block, context in zip(self.blocks, self._contexts(sequence, keys, attend, memory, state), strict=True):
            x, auxiliary = (
                self._recomputed(block, x, context) if self.recompute and state is None else block(x, context)
            )
            for name, loss in auxiliary.items():
                total[name] = total[name] + loss if name in total else loss
        return self.closing_norm(x), total

    def _recomputed(
        self, block: Block, x: Float[Tensor, "B T D"], context: Context
    ) -> tuple[Float[Tensor, "B T D"], Auxiliary]:
        """The same block; of its insides nothing is kept, the backward pass computes them again. Dropout goes back to
        the start of its stream, and the memo is the block's own: what it holds may need a gradient."""

        def run(x: Tensor) -> tuple[Tensor, Auxiliary]:
            cross = None if context.cross is None else replace(context.cross, memo={})
            return block(x, replace(context, memo={}, cross=cross))

        result: tuple[Tensor, Auxiliary] = checkpoint(run, x, use_reentrant=False)
        return result

    def _contexts(
        self, sequence: Sequence, keys: Sequence, attend: Attend, memory: Memory | None, state: ModelState | None
    ) -> Iterator[Context]:
        """What each layer may know: its own position scheme and state; the memo is one, so a mask is built once."""
        first = self.positions[self.schemes[0]]
        context = Context(sequence, keys, self.causal, first, attend)
        if memory is not None:
            cross = Context(sequence, memory.sequence, False, first, attend, memory=memory.states)
            context = replace(context, cross=cross)
        for i, scheme in enumerate(self.schemes):
            yield context.of_layer(self.positions[scheme], None if state is None else state.layers[i])

    def new_state(self, capacity: int, back: int = 0) -> list[Layer]:
        """The states of its layers."""
        return [block.new_state(capacity, back) for block in self.blocks]

    def flops(self, queries: int, keys: int) -> int:
        return sum(block.flops(queries, keys) for block in self.blocks)

    def cross_flops(self, queries: int, memory: int) -> int:
        """What reading a memory of that length adds."""
        return sum(block.cross_flops(queries, memory) for block in self.blocks)

    def state_elements(self, length: int, memory: int) -> int:
        """Numbers kept per row after `length` positions, with a memory of that many positions."""
        return sum(block.state_elements(length, memory) for block in self.blocks)
