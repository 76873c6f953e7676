from collections.abc import Mapping
from functools import partial
from math import log
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from zoo.ability import Ability
from zoo.common import Common
from zoo.context import Context
from zoo.errors import HERE, PartError
from zoo.position import Position, positions
from zoo.roles import Role, set_role


def _normal(std: float, values: Tensor, generator: torch.Generator) -> None:
    nn.init.normal_(values, std=std, generator=generator)


@positions.register("t5")
class T5Bias(Position):
    """score(i, j) ← score(i, j) + b_h[bucket(j − i)]: a learned number for each head and range of distances.

    Half of the buckets hold one distance each; the others grow as its logarithm up to `max_distance`, beyond which all
    share the last one.
    both_sides: half of the buckets are for keys after the query; else those, which only a prefix shows, are in the
        bucket of distance 0. null is true where the whole stack sees both sides

    paper: Raffel et al. 2019, arXiv:1910.10683, section 2.1; buckets as in its published code
    differs: nothing; all layers of a stack share the table, which starts as in that code, N(0, 1 / d_model): numbers
        that are added to scores are no rows of a table, whose size would go by the number of heads.
    """

    needs = frozenset({Ability.BIAS})

    def __init__(self, common: Common, *, buckets: int = 32, max_distance: int = 128, both_sides: bool | None = None):
        super().__init__(common)
        self.both_sides = not common.causal if both_sides is None else both_sides
        sided = buckets // 2 if self.both_sides else buckets
        if sided < 2 or (self.both_sides and buckets % 2) or max_distance <= sided // 2:
            raise PartError(
                f"{HERE}.buckets={buckets} must be even and at least 4, and max_distance={max_distance} above"
                " half of a side's buckets"
            )
        self.sided, self.max_distance = sided, max_distance
        self.weight = nn.Parameter(torch.empty(buckets, common.n_heads))
        set_role(self, "weight", Role.OWN, fill=partial(_normal, common.d_model**-0.5))

    @classmethod
    def unset(cls, common: Common, values: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"both_sides": not common.causal}

    def bias(self, q: Float[Tensor, "B H T K"], context: Context) -> Float[Tensor, "R H T S"]:
        return context.once(("t5", self, context.queries, context.keys), lambda: self._bias(context))

    def _bias(self, context: Context) -> Tensor:
        ahead = context.keys.positions[:, None, :] - context.queries.positions[:, :, None]
        return self.weight[self.bucket(ahead)].movedim(-1, 1)

    def bucket(self, ahead: Int[Tensor, "*shape"]) -> Int[Tensor, "*shape"]:
        """The bucket of a key that stands so many places after its query; before it where negative."""
        distance = ahead.abs() if self.both_sides else (-ahead).clamp(min=0)
        exact = self.sided // 2
        share = (distance.clamp(min=1).double() / exact).log() / log(self.max_distance / exact)
        wide = (exact + (share * (self.sided - exact)).long()).clamp(max=self.sided - 1)
        found = torch.where(distance < exact, distance, wide)
        return found + self.sided * (ahead > 0) if self.both_sides else found
