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


def log_probabilities(logits: Float[Tensor, "*rows V"]) -> Float[Tensor, "*rows V"]:
    """log p, at least in float32 whatever the dtype of the logits."""
    return F.log_softmax(logits, dim=-1, dtype=torch.promote_types(logits.dtype, torch.float32))


def target_nats(
    logp: Float[Tensor, "B T V"], targets: Int[Tensor, "B T"], weights: Float[Tensor, "B T"]
) -> Float[Tensor, "B T"]:
    """−log p[target]; 0 where the weight is 0, where the logits may be anything finite and the target any number."""
    scored = weights > 0
    picked = logp.gather(-1, targets.masked_fill(~scored, 0).unsqueeze(-1)).squeeze(-1)
    return torch.where(scored, -picked, 0.0)


def cross_entropy(
    logits: Float[Tensor, "B T V"],
    targets: Int[Tensor, "B T"],
    weights: Float[Tensor, "B T"],
    label_smoothing: float = 0.0,
) -> Loss:
    """objective = Σ w · ((1 − ε) · −log p[target] + ε · −mean_V log p);  nats = Σ w · −log p[target];  weight = Σ w.

    paper: label smoothing ε, Szegedy et al. 2016, arXiv:1512.00567, spread evenly over the whole vocabulary
    """
    logp = log_probabilities(logits)
    nats = (weights * target_nats(logp, targets, weights)).sum()
    objective = nats
    if label_smoothing:
        uniform = torch.where(weights > 0, -logp.mean(-1), 0.0)
        objective = (1 - label_smoothing) * nats + label_smoothing * (weights * uniform).sum()
    return Loss(objective, nats.detach(), weights.sum())


def squared_log_z(logits: Float[Tensor, "B T V"], weights: Float[Tensor, "B T"]) -> Float[Tensor, ""]:
    """Σ w · (log Σ_V exp logit)² / Σ w: added with a small coefficient it keeps the logits' common level near 0.

    paper: Chowdhery et al. 2022, arXiv:2204.02311, section 5 (coefficient 1e-4)
    """
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
    log_z = torch.where(weights > 0, wide.logsumexp(-1), 0.0)
    return (weights * log_z.square()).sum() / weights.sum()
