"""What each head looks at, and what each layer holds, taken from the very computation."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from zoo.context import Context, Scores
from zoo.mixer.backend import plain, weights_of
from zoo.model import Model
from zoo.sequence import Sequence
from zoo.topology import Text
from zoo.topology.stack import Stack


@dataclass(frozen=True)
class Looked:
    """The attention weights of one mixer: `weights[h, t, s]` is how much query t of head h takes from key s. Rows sum
    to 1, but for a query that sees nothing.

    stack: `decoder` or `encoder` where there are two, else nothing
    kind: `self`, or `cross` where the keys are a source
    """

    stack: str
    layer: int
    kind: str
    weights: Float[Tensor, "H T S"]

    @property
    def name(self) -> str:
        """As in `decoder layer 2, cross`."""
        return f"{self.stack} layer {self.layer + 1}".strip() + (", cross" if self.kind == "cross" else "")


@dataclass(frozen=True)
class Held:
    """What a layer leaves for each position."""

    stack: str
    layer: int
    states: Float[Tensor, "T D"]


@dataclass
class Seen:
    """All of one text: the logits, every mixer that has attention weights, every layer."""

    logits: Float[Tensor, "T V"] | None = None
    looked: list[Looked] = field(default_factory=list)
    held: list[Held] = field(default_factory=list)

    def add(self, more: Looked) -> None:
        """The weights of one mixer, or of its next queries where it computes them in several calls."""
        last = self.looked[-1] if self.looked else None
        if last is not None and (last.stack, last.layer, last.kind) == (more.stack, more.layer, more.kind):
            self.looked[-1] = replace(last, weights=torch.cat([last.weights, more.weights], 1))
        else:
            self.looked.append(more)


@torch.no_grad()
def look(model: Model, tokens: Int[Tensor, "1 T"], source: Int[Tensor, "1 S"] | None = None) -> Seen:
    """Run one text through the model with attention written out, keeping the weights as they are used. Mixers that have
    none leave none."""
    seen, here = Seen(), _Here()

    def attend(q: Tensor, k: Tensor, v: Tensor, context: Context, scores: Scores) -> Tensor:
        weights = weights_of(q, k, context, scores).flatten(1, 2)[0]
        seen.add(Looked(here.stack, here.layer, "self" if context.memory is None else "cross", weights))
        return plain(q, k, v, context, scores)

    was_training = model.training
    model.eval()
    try:
        with _following(model, here, seen):
            read = None if source is None else Text(source, Sequence.of(source))
            hidden, _ = model.topology(text_of(model, tokens), read, attend)
            seen.logits = model.head(hidden)[0]
    finally:
        model.train(was_training)
    return seen


def text_of(model: Model, tokens: Int[Tensor, "1 T"]) -> Text:
    """The text as the model takes it: a prefix-LM sees all of it at once."""
    prefix = torch.ones_like(tokens, dtype=torch.bool) if model.topology.traits.takes_prefix else None
    return Text(tokens, Sequence.of(tokens, None, None, prefix))


@dataclass
class _Here:
    """Where the computation is."""

    stack: str = ""
    layer: int = 0


@contextmanager
def _following(model: Model, here: _Here, seen: Seen) -> Iterator[None]:
    """Know, while inside, which layer is computed, and keep what it leaves."""
    stacks = [one for one in model.topology.modules() if isinstance(one, Stack)]
    handles = []
    for stack in stacks:
        name = ("decoder" if stack is model.topology.generating else "encoder") if len(stacks) > 1 else ""
        for layer, block in enumerate(stack.blocks):

            def enter(block: Any, arguments: Any, name: str = name, layer: int = layer) -> None:
                here.stack, here.layer = name, layer

            def leave(block: Any, arguments: Any, found: Any, name: str = name, layer: int = layer) -> None:
                seen.held.append(Held(name, layer, found[0][0]))

            handles += [block.register_forward_pre_hook(enter), block.register_forward_hook(leave)]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
