"""What all rotary schemes share: pairs of features that turn. How fast each pair turns makes an option."""

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from zoo.ability import Ability
from zoo.common import Common
from zoo.context import Context
from zoo.errors import HERE, PartError
from zoo.materialized import materialized
from zoo.mixer import Mixer
from zoo.position import Position


class Rotary(Position):
    """The i-th pair of features of q and k at place t is turned by the angle t · f_i, so that q·k depends on the
    distance only. R = fraction · K features turn, the rest stay.

    layout: which features form a pair: `half` pairs i with i + R/2 (Llama), `interleaved` 2i with 2i + 1 (the paper).
        The two differ by a permutation of the rows of the q and k projections.
    """

    needs = frozenset({Ability.ROTATE})

    def __init__(self, common: Common, *, base: float, fraction: float, layout: Literal["half", "interleaved"]):
        super().__init__(common)
        if not 0 < fraction <= 1:
            raise PartError(f"{HERE}.fraction={fraction} must be above 0 and at most 1")
        if not base > 0:
            raise PartError(f"{HERE}.base={base} must be above 0")
        self.base = base
        self.fraction = fraction
        self.layout = layout

    def check(self, mixer: Mixer, name: str) -> None:
        super().check(mixer, name)
        width = self.turning(mixer.head_dim)
        if width % 2 or width == 0:
            raise PartError(
                f"rope turns pairs of features, but {HERE}.fraction={self.fraction} of head_dim={mixer.head_dim} is"
                f" {width}; change it, model.d_model, model.n_heads or the head_dim of its mixer to make it even"
            )

    def turning(self, head_dim: int) -> int:
        """R, the number of features that turn."""
        return int(head_dim * self.fraction)

    def frequencies(self, width: int, device: torch.device) -> Float[Tensor, " pairs"]:
        """f_i of each of the width / 2 pairs, in float64: base^(−2i/R)."""
        even = torch.arange(0, width, 2, device=device)
        return self.base ** (-even.double() / width)

    def rotate(
        self, q: Float[Tensor, "B H T K"], k: Float[Tensor, "B G T K"], context: Context
    ) -> tuple[Float[Tensor, "B H T K"], Float[Tensor, "B G T K"]]:
        own, other = context.once(("factors", self, q.shape[-1], q.dtype), lambda: self.factors(q, context))
        return self.turn(q, own, other), self.turn(k, own, other)

    def factors(self, q: Tensor, context: Context) -> tuple[Tensor, Tensor]:
        """What a feature and its partner are multiplied by, (R, 1, T, R): (cos, cos) and (−sin, sin) in each pair."""
        own, other = self.factors_of(*self.waves(q, context))
        return materialized(own), materialized(other)

    def waves(self, q: Tensor, context: Context) -> tuple[Tensor, Tensor]:
        """cos and sin of every angle, (R, 1, T, R/2), in the dtype of q."""
        frequencies = self.frequencies(self.turning(q.shape[-1]), q.device)
        angles = context.queries.positions[:, None, :, None] * frequencies.float()
        return angles.cos().to(q.dtype), angles.sin().to(q.dtype)

    def factors_of(self, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
        """`factors` of those waves."""
        return self._paired(cos, cos), self._paired(-sin, sin)

    def turn(self, x: Float[Tensor, "B H T K"], own: Tensor, other: Tensor) -> Float[Tensor, "B H T K"]:
        """(a, b) → (a cos − b sin, a sin + b cos) for each pair."""
        width = self.turning(x.shape[-1])
        turning, still = x[..., :width], x[..., width:]
        a, b = self._parts(turning)
        if x.shape[-2] == 1 and torch.compiler.is_compiling():  # one loop; eagerly, the fewer operations are faster
            cos, sin = self._parts(own)[0], self._parts(other)[1]
            turned = self._paired(a * cos - b * sin, b * cos + a * sin)
        else:
            turned = turning * own + self._paired(b, a) * other
        return turned if width == x.shape[-1] else torch.cat([turned, still], dim=-1)

    def _parts(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The features that are the first and the second of each pair."""
        if self.layout == "half":
            a, b = x.chunk(2, dim=-1)
            return a, b
        return x[..., 0::2], x[..., 1::2]

    def _paired(self, a: Tensor, b: Tensor) -> Tensor:
        """The features of which those are the first and the second of each pair."""
        return torch.cat([a, b], dim=-1) if self.layout == "half" else torch.stack([a, b], dim=-1).flatten(-2)


def checked(factor: float, trained: int = 1) -> float:
    """The factor of a scaling. Raises UserError below 1, where a text would be shorter than trained, and for a trained
    length of no positions."""
    if not factor >= 1:
        raise PartError(f"{HERE}.factor={factor} must be at least 1")
    if trained < 1:
        raise PartError(f"{HERE}.trained={trained} must be at least 1")
    return factor
