from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor

from zoo.common import Common
from zoo.context import Context, Scores
from zoo.position import positions
from zoo.position.rotary import Rotary, checked
from zoo.sequence import Sequence


@positions.register("rope_ntk")
class DynamicNTK(Rotary):
    """`rope` whose base grows with the length L that a query sees, beyond the trained length (dynamic NTK):

        base(L) = base · (factor · L / trained − (factor − 1))^(R / (R − 2)),   base(L) = base for L ≤ trained.

    L is one more than the last place among the keys that the query may see: in a causal stack its own place, from 1.
    Query and keys of one score are turned by that same base, so a state keeps keys that are not turned.

    paper: Peng et al. 2023, arXiv:2309.00071, section 3.3, after posts of bloc97 and emozilla
    differs: the base follows each query, not the whole text. Were it the text's, no position could be computed before
    the end is known, and keys of a state would be turned by the bases of other lengths. It costs a pass of attention
    for each position beyond the trained length.
    """

    compiles = False  # how many bases there are depends on places

    def __init__(
        self,
        common: Common,
        *,
        trained: int,
        factor: float = 4.0,
        base: float = 10000.0,
        fraction: float = 1.0,
        layout: Literal["half", "interleaved"] = "half",
    ):
        super().__init__(common, base=base, fraction=fraction, layout=layout)
        self.factor, self.trained = checked(factor, trained), trained

    def base_at(self, length: Int[Tensor, "*shape"], width: int) -> Float[Tensor, "*shape"]:
        """base(L), in float64. A single pair, whose frequency is 1 at any base, leaves nothing to stretch."""
        if width == 2:
            return torch.full_like(length, 1, dtype=torch.double) * self.base
        stretched = self.factor * length.clamp(min=self.trained).double() / self.trained - (self.factor - 1)
        return self.base * stretched ** (width / (width - 2))

    def rotate(
        self, q: Float[Tensor, "B H T K"], k: Float[Tensor, "B G T K"], context: Context
    ) -> tuple[Float[Tensor, "B H T K"], Float[Tensor, "B G T K"]]:
        """Not yet: how far a key turns depends on the query that meets it."""
        return q, k

    def attend(
        self,
        q: Float[Tensor, "B H T K"],
        k: Float[Tensor, "B G S K"],
        v: Float[Tensor, "B G S U"],
        context: Context,
        scores: Scores,
    ) -> Float[Tensor, "B H T U"]:
        """The columns of queries that have one base together, the others one after the other."""
        key = ("columns", self, scores.window, context.queries, context.keys)
        lengths, columns = context.once(key, lambda: self._columns(context, scores.window))
        mixed = []
        for i, (some, part) in enumerate(columns):
            if i == 1:  # one call to whoever drops: another start of its stream would hide the same keys again
                scores = replace(scores, dropout=scores.dropout.continued())
            base = self.base_at(lengths[:, some.start], self.turning(q.shape[-1]))
            turned_q = self._turned(q[:, :, some], part.queries, base, part)
            mixed.append(context.attend(turned_q, self._turned(k, part.keys, base, part), v, part, scores))
        return mixed[0] if len(mixed) == 1 else torch.cat(mixed, 2)

    def _turned(self, x: Tensor, sequence: Sequence, base: Float[Tensor, " R"], context: Context) -> Tensor:
        """x turned by its places, each row by its own base."""

        def factors() -> tuple[Tensor, Tensor]:
            width = self.turning(x.shape[-1])
            even = torch.arange(0, width, 2, device=x.device)
            frequencies = base[:, None] ** (-even.double() / width)
            angles = (sequence.positions[:, :, None] * frequencies.float()[:, None, :])[:, None]
            return self.factors_of(angles.cos().to(x.dtype), angles.sin().to(x.dtype))

        key = ("turned", self, x.shape[-1], x.dtype, context.queries, context.keys, sequence)
        return self.turn(x, *context.once(key, factors))

    def _columns(self, context: Context, window: int | None) -> tuple[Tensor, list[tuple[slice, Context]]]:
        """The length that each query sees, (R, T), and the columns of one base each, with their contexts."""
        lengths = _seen(context, window).clamp(min=self.trained)
        parts = list(_alike(lengths))
        if len(parts) == 1:
            return lengths, [(parts[0], context)]
        return lengths, [(some, replace(context, queries=_cut(context.queries, some))) for some in parts]


def _seen(context: Context, window: int | None) -> Int[Tensor, "R T"]:
    """One more than the last place that each query may see."""
    places, visible = context.keys.positions, context.visible(window)
    if visible is None:
        return places.amax(1, keepdim=True).expand(-1, context.queries.positions.shape[1]) + 1
    return torch.where(visible, places[:, None, :], -1).amax(-1) + 1


def _alike(lengths: Int[Tensor, "R T"]) -> Iterator[slice]:
    """Columns in a row that are equal."""
    if lengths.shape[1] == 1:
        yield slice(0, 1)
        return
    start = 0
    for _, group in groupby(lengths.T.tolist()):
        end = start + len(list(group))
        yield slice(start, end)
        start = end


def _cut(sequence: Sequence, columns: slice) -> Sequence:
    """Those columns of it."""

    def part(x: Tensor | None) -> Tensor | None:
        return None if x is None else x[:, columns]

    positions = sequence.positions[:, columns]
    return Sequence(positions, part(sequence.real), part(sequence.documents), part(sequence.prefix))
