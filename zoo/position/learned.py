import torch
from jaxtyping import Float
from torch import Tensor, nn

from zoo.common import Common
from zoo.errors import HERE, PartError
from zoo.position import Position, positions
from zoo.roles import Role, set_role
from zoo.sequence import Sequence


@positions.register("learned")
class Learned(Position):
    """x[t] + P[t]; P is a trained table with one row per place, `max_positions` rows.

    paper: Gehring et al. 2017, arXiv:1705.03122; GPT-2, BERT
    differs: nothing; a place beyond the table is refused, it has never been trained.
    """

    def __init__(self, common: Common, *, max_positions: int):
        super().__init__(common)
        if max_positions < 1:
            raise PartError(f"{HERE}.max_positions={max_positions} must be at least 1: learned positions need a table")
        self.limit = max_positions
        self.weight = nn.Parameter(torch.empty(max_positions, common.d_model))
        set_role(self, "weight", Role.POSITION)

    def embed(self, x: Float[Tensor, "B T D"], sequence: Sequence) -> Float[Tensor, "B T D"]:
        return x + nn.functional.embedding(sequence.positions, self.weight).to(x.dtype)
