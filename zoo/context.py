"""What every layer may know about the positions it works on, and how it attends to them."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from jaxtyping import Bool, Float
from torch import Tensor

from zoo.dropout import Dropout
from zoo.sequence import Sequence
from zoo.state import Layer

if TYPE_CHECKING:
    from zoo.position import Position


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

    def of_layer(self, position: "Position", layer: Layer | None) -> "Context":
        """The same for a layer with that position scheme and those states. The memo is shared."""
        if layer is None:
            return self if position is self.position else replace(self, position=position)
        cross = None if self.cross is None else replace(self.cross, state=layer.cross)
        return replace(self, position=position, state=layer.mixer, ffn_state=layer.ffn, cross=cross)

    def once(self, key: tuple[Any, ...], compute: Callable[[], Any]) -> Any:
        """What is the same in every layer of one forward pass (a mask, a rotation) is computed by the first. A key
        begins with a name of its own: torch's compiler cannot compare what follows with the key of something else."""
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


@dataclass(frozen=True)
class Scores:
    """What attention does between q kᵀ and the weights: the factor of the scores, the window that a query sees, the
    dropout of the weights."""

    scale: float
    window: int | None
    dropout: Dropout


@runtime_checkable
class Attend(Protocol):
    """A way to compute attention. Keys and values may differ in width."""

    def __call__(
        self,
        q: Float[Tensor, "B H T K"],
        k: Float[Tensor, "B G S K"],
        v: Float[Tensor, "B G S U"],
        context: Context,
        scores: Scores,
    ) -> Float[Tensor, "B H T U"]: ...
