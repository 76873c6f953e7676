"""What every layer may know about the positions it works on. One polarity everywhere: True means real, may be seen."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

if TYPE_CHECKING:
    from zoo.mixer.backend import Attend
    from zoo.position import Position
    from zoo.state import Layer


@dataclass(frozen=True, eq=False)
class Sequence:
    """What is known of each position of a row. None stands for: all real, one document, no prefix. R is B, or 1 where
    all rows are alike.

    positions: the place of a token in its document, from 0; explicit and per row, so that left padding, packing and
        states cannot disagree
    real: False for padding
    documents: a number per document packed into the row; no document sees another, and one that comes back is a new one
    prefix: True for tokens that every token of their document may see, also earlier ones (prefix-LM)
    past: whether no position stands after any query, as when one token goes on; then nothing need be hidden for order
    """

    positions: Int[Tensor, "R T"]
    real: Bool[Tensor, "B T"] | None = None
    documents: Int[Tensor, "B T"] | None = None
    prefix: Bool[Tensor, "B T"] | None = None
    past: bool = False

    @classmethod
    def of(
        cls,
        tokens: Int[Tensor, "B T"],
        real: Bool[Tensor, "B T"] | None = None,
        documents: Int[Tensor, "B T"] | None = None,
        prefix: Bool[Tensor, "B T"] | None = None,
    ) -> "Sequence":
        """Number the real tokens of each document from 0; padding gets the place of the token before it, or 0."""
        length = tokens.shape[1]
        if real is None and documents is None:
            return cls(torch.arange(length, device=tokens.device)[None], None, None, prefix)
        counts = torch.ones_like(tokens) if real is None else real.long()
        places = counts.cumsum(1) - 1
        if documents is not None:
            opens = torch.ones_like(documents, dtype=torch.bool)
            opens[:, 1:] = documents[:, 1:] != documents[:, :-1]
            before = (places - counts + 1).masked_fill(~opens, 0)  # real tokens before the document that is open here
            places = places - before.cummax(1).values
            documents = opens.cumsum(1)
        return cls(places.clamp(min=0), real, documents, prefix)


@dataclass(frozen=True)
class Context:
    """What a mixer may look at.

    queries: the positions it computes
    keys: the positions it may attend to: the queries themselves, those before them in a state, or a memory
    causal: later positions are hidden
    position: the position scheme of this layer
    attend: how attention is computed (see zoo.mixer.backend)
    memory: what a cross-mixer reads, in place of its own input
    state, ffn_state: what the mixer and the ffn of this layer carried over from earlier calls, when generating
    cross: the context of the cross-mixer, where the stack has one
    """

    queries: Sequence
    keys: Sequence
    causal: bool
    position: "Position"
    attend: "Attend"
    memory: Float[Tensor, "B S D"] | None = None
    state: Any | None = None
    ffn_state: Any | None = None
    cross: "Context | None" = None
    memo: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    def of_layer(self, position: "Position", layer: "Layer | None") -> "Context":
        """The same for a layer with that position scheme and those states. The memo is shared."""
        if layer is None:
            return self if position is self.position else replace(self, position=position)
        cross = None if self.cross is None else replace(self.cross, state=layer.cross)
        return replace(self, position=position, state=layer.mixer, ffn_state=layer.ffn, cross=cross)

    def once(self, key: Any, compute: Callable[[], Any]) -> Any:
        """What is the same in every layer of one forward pass (a mask, a rotation) is computed by the first."""
        if key not in self.memo:
            self.memo[key] = compute()
        return self.memo[key]

    def position_bias(self, q: Float[Tensor, "B H T K"]) -> Float[Tensor, "R H T S"] | None:
        """What the position scheme adds to the scores; a memory has no places in common with its reader."""
        return None if self.memory is not None else self.position.bias(q, self)

    def only_causal(self, window: int | None) -> bool:
        """Whether the mask is the plain triangle: nothing but order hides a key."""
        q, k = self.queries, self.keys
        bare = q is k and k.real is None and k.documents is None and k.prefix is None
        return self.causal and bare and (window is None or window >= k.positions.shape[1])

    def visible(self, window: int | None = None) -> Bool[Tensor, "R T S"] | None:
        """Which key each query may see; None when it may see all.

        window w: a query sees itself and the w − 1 positions before it (and, when not causal, the w − 1 after it).
        """
        return self.once(("visible", window, self.queries, self.keys), lambda: self._visible(window))

    def _visible(self, window: int | None) -> Tensor | None:
        q, k = self.queries, self.keys
        allowed: list[Tensor] = []
        near = window if self.memory is None else None
        if near is not None and k.past and near >= k.positions.shape[1]:
            near = None
        hides_future = self.causal and not k.past
        if hides_future or near is not None:
            distance = q.positions[:, :, None] - k.positions[:, None, :]
        if hides_future:
            earlier = distance >= 0
            allowed.append(earlier if k.prefix is None else earlier | k.prefix[:, None, :])
        if near is not None:
            allowed.append(distance.abs() < near)
        if q.documents is not None and k.documents is not None:
            allowed.append(q.documents[:, :, None] == k.documents[:, None, :])
        if k.real is not None:
            allowed.append(k.real[:, None, :].expand(-1, q.positions.shape[1], -1))
        if not allowed:
            return None
        visible = allowed[0]
        for one in allowed[1:]:
            visible = visible & one
        return visible
