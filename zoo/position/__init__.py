"""Where order enters the model."""

from typing import ClassVar

from jaxtyping import Float
from torch import Tensor

from zoo.ability import Ability, refuse_unless
from zoo.common import Common
from zoo.context import Context, Scores
from zoo.mixer import Mixer
from zoo.part import Part
from zoo.registry import Registry
from zoo.sequence import Sequence


class Position(Part):
    """Contract: `Position(common)`; four identities, of which a scheme overrides what it needs. One scheme serves all
    layers of a stack. Places come from the context, explicit and per row; no scheme counts for itself."""

    needs: ClassVar[frozenset[Ability]] = frozenset()
    """What a mixer must be able to do for this scheme to reach it."""
    limit: int | None = None
    """How many positions can be told apart; None when any number can."""

    def __init__(self, common: Common):
        super().__init__()

    def check(self, mixer: Mixer, name: str) -> None:
        """Raise UserError when this scheme cannot reach the mixer."""
        refuse_unless(mixer, self.needs, f"position '{name}'")

    @property
    def marks_embeddings(self) -> bool:
        """Whether it acts below the first layer, and so on all layers."""
        return type(self).embed is not Position.embed

    def embed(self, x: Float[Tensor, "B T D"], sequence: Sequence) -> Float[Tensor, "B T D"]:
        """Absolute schemes: mark the embeddings with their place, once, below the first layer."""
        return x

    def rotate(
        self, q: Float[Tensor, "B H T K"], k: Float[Tensor, "B G T K"], context: Context
    ) -> tuple[Float[Tensor, "B H T K"], Float[Tensor, "B G T K"]]:
        """Rotary schemes: turn queries and keys by the places of `context.queries`, in every layer."""
        return q, k

    def bias(self, q: Float[Tensor, "B H T K"], context: Context) -> Float[Tensor, "R H T S"] | None:
        """Relative schemes: what is added to each head's scores, by the places of queries and keys and, where the
        scheme asks for it, by the queries."""
        return None

    def attend(
        self,
        q: Float[Tensor, "B H T K"],
        k: Float[Tensor, "B G S K"],
        v: Float[Tensor, "B G S U"],
        context: Context,
        scores: Scores,
    ) -> Float[Tensor, "B H T U"]:
        """Attention by the backend. A scheme whose rotation is not one of each key alone does it here, where queries
        meet the keys of a state too."""
        return context.attend(q, k, v, context, scores)


positions: Registry[Position] = Registry("position", Position, __name__)
