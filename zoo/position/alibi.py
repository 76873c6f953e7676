from math import floor, log2

import torch
from jaxtyping import Float
from torch import Tensor

from zoo.ability import Ability
from zoo.context import Context
from zoo.position import Position, positions


@positions.register("alibi")
class ALiBi(Position):
    """score(i, j) ← score(i, j) − m_h · |i − j|: each head h fades with distance at a slope of its own.

    For H heads, a power of two, m_h = 2^(−8h/H), h = 1 … H. For another H: the slopes of the power of two below it,
    then every second slope of the power of two above it.

    paper: Press et al. 2021, arXiv:2108.12409; the other H: its published code
    differs: where both sides are seen the distance counts both ways, as the paper leaves open.
    """

    needs = frozenset({Ability.BIAS})

    def bias(self, q: Float[Tensor, "B H T K"], context: Context) -> Float[Tensor, "R H T S"]:
        return context.once(("alibi", self, q.shape[1], context.queries, context.keys), lambda: self._bias(q, context))

    def _bias(self, q: Tensor, context: Context) -> Tensor:
        distance = (context.queries.positions[:, None, :, None] - context.keys.positions[:, None, None, :]).abs()
        return -torch.tensor(slopes(q.shape[1]), device=q.device)[:, None, None] * distance


def slopes(heads: int) -> list[float]:
    """m_h of every head."""
    power = 2 ** floor(log2(heads))
    found = [2 ** (-8 * h / power) for h in range(1, power + 1)]
    return found + [2 ** (-8 * h / (2 * power)) for h in range(1, 2 * power + 1, 2)][: heads - power]
