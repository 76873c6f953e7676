"""The loss of a batch: sums over scored targets, never means of means, so that batches can be split at will."""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor


class Loss(NamedTuple):
    """Sums over the scored targets of one micro-batch: what is minimised, plain nats, and the weights."""

    objective: Float[Tensor, ""]
    nats: Float[Tensor, ""]
    weight: Float[Tensor, ""]


def token_losses(
    logits: Float[Tensor, "B T V"], targets: Int[Tensor, "B T"], weights: Float[Tensor, "B T"]
) -> tuple[Float[Tensor, "B T"], Float[Tensor, "B T"]]:
    """(−log p[target], −mean over V of log p), each 0 where the weight is 0, whatever finite logits stand there.

    At least float32, whatever the dtype of the logits. Targets without weight may be any number."""
    scored = weights > 0
    logp = F.log_softmax(logits, dim=-1, dtype=torch.promote_types(logits.dtype, torch.float32))
    nats = -logp.gather(-1, targets.masked_fill(~scored, 0).unsqueeze(-1)).squeeze(-1)
    return torch.where(scored, nats, 0.0), torch.where(scored, -logp.mean(-1), 0.0)


def cross_entropy(
    logits: Float[Tensor, "B T V"],
    targets: Int[Tensor, "B T"],
    weights: Float[Tensor, "B T"],
    label_smoothing: float = 0.0,
) -> Loss:
    """objective = Σ w · ((1 − ε) · −log p[target] + ε · −mean_V log p);  nats = Σ w · −log p[target];  weight = Σ w.

    paper: label smoothing ε, Szegedy et al. 2016, arXiv:1512.00567, spread evenly over the whole vocabulary
    """
    nats, uniform = token_losses(logits, targets, weights)
    total = (weights * nats).sum()
    objective = total
    if label_smoothing:
        objective = (1 - label_smoothing) * total + label_smoothing * (weights * uniform).sum()
    return Loss(objective, total.detach(), weights.sum())
