"""The one model: a topology of stacks, and a head."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from zoo.ability import Ability, refuse_unless
from zoo.common import flops_of
from zoo.context import Sequence
from zoo.errors import UserError
from zoo.ffn import Auxiliary
from zoo.head import Head
from zoo.mixer import Mixer
from zoo.mixer.backend import BACKENDS
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

    `attention` names the backend: how attention is computed, which changes speed and rounding but nothing else.
    """

    def __init__(self, topology: Topology, head: Head, vocabulary: int, limit: int | None):
        super().__init__()
        self.topology = topology
        self.head = head
        self.vocabulary = vocabulary
        self.limit = limit
        self.attention = "plain"
        self._mixers = [module for module in topology.modules() if isinstance(module, Mixer)]

    def forward(
        self,
        tokens: Int[Tensor, "B T"],
        padding: Bool[Tensor, "B T"] | None = None,
        *,
        source: Int[Tensor, "B S"] | None = None,
        source_padding: Bool[Tensor, "B S"] | None = None,
        prefix: Bool[Tensor, "B T"] | None = None,
        documents: Int[Tensor, "B T"] | None = None,
    ) -> Output:
        if not torch.compiler.is_compiling():
            self._check(tokens, padding, source, source_padding, prefix, documents)
        target = Text(tokens, Sequence.of(tokens, padding, documents, prefix))
        read = None if source is None else Text(source, Sequence.of(source, source_padding))
        if self.limit is not None and not torch.compiler.is_compiling():
            for text in (target, read):
                if text is not None:
                    _check_places(text, self.limit)
        hidden, auxiliary = self.topology(target, read, BACKENDS[self.attention])
        return Output(self.head(hidden), auxiliary)

    def _check(self, tokens: Tensor, *others: Tensor | None) -> None:
        """Refuse what would otherwise fail deep inside, or not at all."""
        padding, source, source_padding, prefix, documents = others
        if documents is not None:
            self.require(Ability.PACKING)
        if padding is not None or source_padding is not None:
            self.require(Ability.PADDING)
        kind = type(self.topology).__name__
        if source is not None and not self.topology.traits.reads_source:
            raise UserError(f"{kind} has no encoder to read a source; put the source in front of the tokens")
        if prefix is not None and not self.topology.traits.takes_prefix:
            raise UserError(f"{kind} takes no prefix; choose model/topology=prefix_lm")
        for name, mask, shape in (
            ("padding", padding, tokens),
            ("prefix", prefix, tokens),
            ("source_padding", source_padding, source),
        ):
            if mask is not None and (shape is None or mask.shape != shape.shape or mask.dtype != torch.bool):
                wanted = "source" if shape is None else tuple(shape.shape)
                got = f"{mask.dtype} {tuple(mask.shape)}"
                raise UserError(f"{name} must be a bool tensor of shape {wanted} (True = real), got {got}")
        if documents is not None and documents.shape != tokens.shape:
            raise UserError(
                f"documents must have the shape of the tokens {tuple(tokens.shape)}, got {tuple(documents.shape)}"
            )

    def require(self, ability: Ability) -> None:
        """Raise UserError unless every mixer can do that."""
        for mixer in self._mixers:
            refuse_unless(mixer, frozenset({ability}), "this batch")

    def flops(self, target: int, source: int | None = None) -> int:
        """Forward floating-point operations of one row with `target` positions (and `source` positions to read)."""
        read = target if source is None else source
        return self.topology.flops(target, read) + flops_of(self.head, target, target)

    def state_elements(self, target: int, source: int | None = None) -> int:
        """Numbers that one row keeps between calls when generating, after `target` positions."""
        return self.topology.state_elements(target, target if source is None else source)


def _check_places(text: Text, limit: int) -> None:
    """Refuse places beyond the position scheme. Where places are columns, no value has to be fetched."""
    sequence = text.sequence
    bare = sequence.real is None and sequence.documents is None
    needed = sequence.positions.shape[1] if bare else int(sequence.positions.max()) + 1
    if needed > limit:
        raise UserError(
            f"{needed} positions, but the position scheme can address {limit} (model.position.max_positions); train"
            " with more of them, or choose another model/position"
        )
