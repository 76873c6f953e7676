from collections.abc import Mapping
from typing import Any

from jaxtyping import Float
from torch import Tensor

from zoo.ability import Ability
from zoo.common import Common
from zoo.context import Context, Scores
from zoo.dropout import Dropout
from zoo.errors import HERE, PartError
from zoo.knob import Knob
from zoo.mixer import Mixer, mixers
from zoo.mixer.key_values import KeyValues, MemoryKeyValues, Ring
from zoo.roles import Linear, Role


@mixers.register("attention")
class Attention(Mixer):
    """softmax(q kᵀ / √K) v for each of H heads, concatenated and projected back to D.

    n_kv_heads G: null is multi-head attention (G = H), 1 is multi-query, between them grouped-query attention, in which
        H / G consecutive query heads share one key–value head
    window w: null sees all; else a position sees itself and the w − 1 before it (when not causal, also the w − 1 after)
    scale: false leaves out the division by √K
    head_dim K: null is D / H
    bias, dropout: null takes the model's; dropout acts on the attention weights

    paper: Vaswani et al. 2017, arXiv:1706.03762; Shazeer 2019, arXiv:1911.02150 (MQA); Ainslie et al. 2023,
        arXiv:2305.13245 (GQA); Beltagy et al. 2020, arXiv:2004.05150 (window)
    differs: projections may have biases, as in most implementations; a window never limits cross-attention.
    """

    can = frozenset(Ability)
    idle_across = frozenset({"window"})
    knobs = (Knob("n_kv_heads", divides_heads=True),)

    def __init__(
        self,
        common: Common,
        *,
        n_kv_heads: int | None = None,
        head_dim: int | None = None,
        window: int | None = None,
        scale: bool = True,
        bias: bool | None = None,
        dropout: float | None = None,
    ):
        super().__init__(common)
        d_model, heads = common.d_model, common.n_heads
        if head_dim is None and d_model % heads:
            raise PartError(
                f"model.d_model={d_model} must be a multiple of model.n_heads={heads}, or {HERE}.head_dim be set"
            )
        groups = heads if n_kv_heads is None else n_kv_heads
        if groups < 1 or heads % groups:
            raise PartError(f"model.n_heads={heads} must be a multiple of {HERE}.n_kv_heads={groups}")
        if window is not None and window < 1:
            raise PartError(f"{HERE}.window={window} must be at least 1 (a position sees itself)")
        if head_dim is not None and head_dim < 1:
            raise PartError(f"{HERE}.head_dim={head_dim} must be at least 1")
        if dropout is not None and not 0 <= dropout < 1:
            raise PartError(f"{HERE}.dropout={dropout} must be at least 0 and below 1")
        bias = common.bias if bias is None else bias
        self.head_dim = d_model // heads if head_dim is None else head_dim
        self.heads, self.groups, self.window = heads, groups, window
        self.dropout = Dropout(common.dropout if dropout is None else dropout)
        self.scores = Scores(self.head_dim**-0.5 if scale else 1.0, window, self.dropout)
        self.q = Linear(d_model, heads * self.head_dim, bias=bias, role=Role.QUERY)
        self.k = Linear(d_model, groups * self.head_dim, bias=bias, role=Role.KEY)
        self.v = Linear(d_model, groups * self.head_dim, bias=bias, role=Role.VALUE)
        self.out = Linear(heads * self.head_dim, d_model, bias=bias, role=Role.RESIDUAL)

    @classmethod
    def unset(cls, common: Common, values: Mapping[str, Any]) -> Mapping[str, Any]:
        shared = {"n_kv_heads": common.n_heads, "bias": common.bias, "dropout": common.dropout}
        width, left = divmod(common.d_model, common.n_heads)
        return shared if left else {**shared, "head_dim": width}

    def forward(self, x: Float[Tensor, "B T D"], context: Context) -> Float[Tensor, "B T D"]:
        q = _heads(self.q(x), self.heads)
        attend = context.position.attend
        if context.memory is not None:
            k, v = self._of_memory(context.memory, context.state)
            attend = context.attend
        else:
            k, v = self._keys_values(x)
            q, k = context.position.rotate(q, k, context)
            if context.state is not None:
                k, v, context = context.state.extend(k, v, context)
        mixed = attend(q, k, v, context, self.scores)
        return self.out(mixed.transpose(1, 2).flatten(2))  # B T (H K)

    def _keys_values(self, x: Float[Tensor, "B S D"]) -> tuple[Float[Tensor, "B G S K"], Float[Tensor, "B G S K"]]:
        return _heads(self.k(x), self.groups), _heads(self.v(x), self.groups)

    def _of_memory(
        self, memory: Float[Tensor, "B S D"], state: MemoryKeyValues | None
    ) -> tuple[Float[Tensor, "B G S K"], Float[Tensor, "B G S K"]]:
        """Keys and values of a memory, from the state if an earlier call has left them there."""
        return self._keys_values(memory) if state is None else state.once(lambda: self._keys_values(memory))

    def new_state(self, capacity: int, back: int = 0) -> KeyValues | Ring:
        if self.window is None or self.window + back >= capacity:
            return KeyValues(capacity)
        return Ring(self.window, back)

    def new_cross_state(self) -> MemoryKeyValues:
        return MemoryKeyValues()

    def state_elements(self, length: int) -> int:
        kept = length if self.window is None else min(length, self.window)
        return 2 * self.groups * self.head_dim * kept

    def cross_state_elements(self, memory: int) -> int:
        return 2 * self.groups * self.head_dim * memory

    def flops(self, queries: int, keys: int) -> int:
        return super().flops(queries, keys) + self._products(queries, keys)

    def cross_flops(self, queries: int, keys: int) -> int:
        own = 2 * queries * (self.q.weight.numel() + self.out.weight.numel())
        return own + 2 * keys * (self.k.weight.numel() + self.v.weight.numel()) + self._products(queries, keys)

    def _products(self, queries: int, keys: int) -> int:
        """q kᵀ and the weighted sum of v, over the whole square."""
        return 2 * 2 * queries * keys * self.heads * self.head_dim


def _heads(x: Float[Tensor, "B T HK"], heads: int) -> Float[Tensor, "B H T K"]:
    """The features of each head; a view, which costs less than einops does where a step is one token."""
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)
