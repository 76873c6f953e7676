"""Tokens to their experts and back."""

from collections.abc import Sequence
from typing import Any, cast

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from torch.nn.functional import embedding_bag


def loads(chosen: Int[Tensor, "N k"], experts: int) -> Int[Tensor, "E"]:
    """How many of the assignments each expert gets."""
    flat = chosen.flatten()
    if torch.compiler.is_compiling():  # bincount has as many places as it finds, which splits a program in two
        return torch.nn.functional.one_hot(flat, experts).sum(dim=0)
    return flat.bincount(minlength=experts)


def runs_of(slots: Float[Tensor, "M D"], counts: Int[Tensor, "E"]) -> Sequence[Float[Tensor, "M_e D"]]:
    """The slots of each expert."""
    lengths = counts.tolist()
    for length in lengths:
        torch._check(length >= 0)  # a compiled program does not know it
    return slots.split(lengths)


class Routes:
    """The M = N·k assignments, sorted by expert: slot i belongs to token n(i), and the j-th slot of token n is p(n, j).

    Each gradient gathers rows, as the forward passes do (that of plain indexing adds row after row, by one thread), so
    no sum depends on an order of arrival.
    """

    def __init__(self, chosen: Int[Tensor, "N k"]):
        self.order = chosen.flatten().argsort(stable=True)
        self.places = self.order.argsort().view_as(chosen)

    def dispatch(self, tokens: Float[Tensor, "N D"]) -> Float[Tensor, "M D"]:
        """s_i = x_{n(i)}: the tokens of an expert lie together, in their own order."""
        return cast(Tensor, _Dispatch.apply(tokens, self.order, self.places))

    def combine(self, slots: Float[Tensor, "M D"], gates: Float[Tensor, "N k"]) -> Float[Tensor, "N D"]:
        """y_n = Σ_j g_nj s_{p(n, j)}, in the dtype of the gates."""
        return cast(Tensor, _Combine.apply(slots.to(gates.dtype), gates, self.order, self.places))


class _Dispatch(Function):
    """∂x_n = Σ_j ∂s_{p(n, j)}"""

    @staticmethod
    def forward(ctx: Any, tokens: Tensor, order: Tensor, places: Tensor) -> Tensor:
        ctx.save_for_backward(places)
        return tokens.index_select(0, order // places.shape[1])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_slots: Tensor) -> tuple[Tensor | None, ...]:
        (places,) = ctx.saved_tensors
        return embedding_bag(places, of_slots, mode="sum"), None, None


class _Combine(Function):
    """∂s_{p(n, j)} = g_nj ∂y_n;  ∂g_nj = ⟨∂y_n, s_{p(n, j)}⟩"""

    @staticmethod
    def forward(ctx: Any, slots: Tensor, gates: Tensor, order: Tensor, places: Tensor) -> Tensor:
        ctx.save_for_backward(slots, gates, order, places)
        return embedding_bag(places, slots, per_sample_weights=gates, mode="sum")

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_y: Tensor) -> tuple[Tensor | None, ...]:
        slots, gates, order, places = ctx.saved_tensors
        spread = of_y.index_select(0, order // places.shape[1])
        of_gates = torch.linalg.vecdot(spread, slots)[places]
        return spread.mul_(gates.flatten()[order][:, None]), of_gates, None, None
