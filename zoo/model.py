"""The one model: a topology of stacks, and a head."""

from dataclasses import dataclass
from weakref import ref

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from zoo.ability import Ability
from zoo.errors import UserError
from zoo.ffn import Auxiliary
from zoo.head import Head
from zoo.history import History
from zoo.inputs import check_inputs, check_state
from zoo.mixer.backend import BACKENDS
from zoo.part import flops_of
from zoo.sequence import Sequence
from zoo.state import ModelState
from zoo.topology import Text, Topology


@dataclass(frozen=True)
class Output:
    """logits (B, T, V), and the named losses of the parts, already multiplied by their coefficients."""

    logits: Float[Tensor, "B T V"]
    auxiliary: Auxiliary


class Model(nn.Module):
    """tokens → logits.

        out = model(tokens)                                  decoder-only, encoder-only
        out = model(tokens, padding=real)                    real (B, T): True = real token
        out = model(target, source=source, source_padding=real)       encoder–decoder: logits for the target
        out = model(tokens, prefix=prefix)                   prefix-LM: True = seen by all
        out = model(tokens, documents=numbers)               packed rows: no document sees another; all read the
                                                             source, or the k-th reads the k-th of source_documents
        state = model.start(rows, capacity)                  then chunk by chunk: model(tokens, state=state)

    `attention` names the backend: how attention is computed, which changes speed and rounding but nothing else.
    """

    def __init__(self, topology: Topology, head: Head, vocabulary: int, limit: int | None):
        super().__init__()
        self.topology = topology
        self.head = head
        self.vocabulary = vocabulary
        self.limit = limit
        self.attention = "plain"

    def forward(
        self,
        tokens: Int[Tensor, "B T"],
        padding: Bool[Tensor, "B T"] | None = None,
        *,
        source: Int[Tensor, "B S"] | None = None,
        source_padding: Bool[Tensor, "B S"] | None = None,
        prefix: Bool[Tensor, "B T"] | None = None,
        documents: Int[Tensor, "B T"] | None = None,
        source_documents: Int[Tensor, "B S"] | None = None,
        state: ModelState | None = None,
    ) -> Output:
        hidden, auxiliary = self.read(
            tokens,
            padding,
            source=source,
            source_padding=source_padding,
            prefix=prefix,
            documents=documents,
            source_documents=source_documents,
            state=state,
        )
        return Output(self.head(hidden), auxiliary)

    def read(
        self,
        tokens: Int[Tensor, "B T"],
        padding: Bool[Tensor, "B T"] | None = None,
        *,
        source: Int[Tensor, "B S"] | None = None,
        source_padding: Bool[Tensor, "B S"] | None = None,
        prefix: Bool[Tensor, "B T"] | None = None,
        documents: Int[Tensor, "B T"] | None = None,
        source_documents: Int[Tensor, "B S"] | None = None,
        state: ModelState | None = None,
    ) -> tuple[Float[Tensor, "B T D"], Auxiliary]:
        """The same without the head: the hidden states that it makes logits of, and the auxiliary losses."""
        if not torch.compiler.is_compiling():
            given = (tokens, padding, source, source_padding, prefix, documents, source_documents)
            check_inputs(self.topology, self.vocabulary, *given)
            if state is not None:
                check_state(state, self, tokens, documents)
        target = Text(tokens, Sequence.of(tokens, padding, documents, prefix))
        read = None if source is None else Text(source, Sequence.of(source, source_padding, source_documents))
        if self.limit is not None and not torch.compiler.is_compiling():
            for text in (target, read):
                if text is not None:
                    _check_places(text, self.limit, state if text is target else None)
        hidden, auxiliary = self.topology(target, read, BACKENDS[self.attention], state)
        return hidden, auxiliary

    def start(self, rows: int, capacity: int, back: int = 0) -> ModelState:
        """An empty state for that many rows and at most `capacity` positions each, which can forget its last `back`
        positions again (`state.truncate`). Raises UserError for a model that cannot go on token by token, or go
        back."""
        stack = self.topology.generating
        if stack is None:
            raise UserError(f"{type(self.topology).__name__} reads from both sides, so it cannot go on token by token")
        self.topology.require(Ability.STATE, "generation")
        if back:
            self.topology.require(Ability.ROLLBACK, "a state that can be rolled back")
        for name, value, least in (("rows", rows, 1), ("capacity", capacity, 1), ("back", back, 0)):
            if type(value) is not int or value < least:
                raise UserError(f"model.start: {name}={value!r} must be a whole number, at least {least}")
        history = History(rows, capacity, self.head.out.weight.device)
        return ModelState(history, stack.new_state(capacity, back), ref(self), back=back)

    def flops(self, target: int, source: int | None = None) -> int:
        """Forward floating-point operations of one row with `target` positions (and `source` positions to read)."""
        read = target if source is None else source
        return self.topology.flops(target, read) + flops_of(self.head, target, target)

    def state_elements(self, target: int, source: int | None = None) -> int:
        """Numbers that one row keeps between calls when generating, after `target` positions."""
        return self.topology.state_elements(target, target if source is None else source)


def _check_places(text: Text, limit: int, state: ModelState | None) -> None:
    """Refuse places beyond the position scheme. Where places are columns, no value has to be fetched."""
    sequence = text.sequence
    bare = sequence.real is None and sequence.documents is None
    needed = sequence.positions.shape[1] if bare else int(sequence.positions.max()) + 1
    if state is not None:
        needed += state.history.furthest()
    if needed > limit:
        raise UserError(
            f"{needed} positions, but the position scheme can address {limit} (model.position.max_positions); train"
            " with more of them, or choose another model/position"
        )
