"""What a head looks at, as numbers."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from zoo.inference.looking import Held, Looked


@dataclass(frozen=True)
class Head:
    """Means over the queries of one head: how much weight goes to the position before, to the same, to the first (each
    over the queries that have one of their own: before and same for self-attention only), and the entropy of its
    weights in nats, also as a share of the most that the keys it sees allow."""

    previous: float | None
    same: float | None
    first: float
    entropy: float
    of_most: float | None


def heads(looked: Looked) -> list[Head]:
    """The numbers of each head of a mixer."""
    return [_head(weights, looked.kind == "self") for weights in looked.weights]


def _head(weights: Float[Tensor, "T S"], own: bool) -> Head:
    most = (weights > 0).sum(-1).double().log()
    spread = entropy(weights)
    return Head(
        previous=weights.diagonal(-1).mean().item() if own and len(weights) > 1 else None,
        same=weights.diagonal().mean().item() if own else None,
        first=weights[1:, 0].mean().item() if own and len(weights) > 1 else weights[:, 0].mean().item(),
        entropy=spread.mean().item(),
        of_most=(spread.sum() / most.sum()).item() if most.sum() > 0 else None,
    )


def entropy(weights: Float[Tensor, "T S"]) -> Tensor:
    """−Σ_s w log w of each row, in nats; log S when even, 0 for a row on one key."""
    return -torch.special.xlogy(weights.double(), weights.double()).sum(-1)


def effective_rank(held: Held) -> float:
    """exp of the entropy of the singular values' shares: between 1, all positions on one line, and min(T, D).

    paper: Roy & Vetterli 2007, "The effective rank: a measure of effective dimensionality"
    differs: nothing; the states are not centred.
    """
    values = torch.linalg.svdvals(held.states.double())
    shares = values / values.sum()
    return float(torch.exp(-torch.special.xlogy(shares, shares).sum()))
