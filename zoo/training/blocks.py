"""The loss of hidden states, without the logits of all of them at once.

The logits of 32 × 128 positions and 32,000 tokens are half a gigabyte, and a backward pass needs that three times more.
Here the forward pass takes a block of positions from its logits through its loss to its share of every gradient, before
it comes to the next one; the backward pass only hands out what was summed up.
"""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

from zoo.head import Head

WIDTHS = 4
"""Positions of a block, in widths of the model: its logits are then as large as what training keeps of a head: weights,
gradient and two moments. Smaller blocks would spend their time adding up the gradient of the weights."""
SMALL = 2**22
"""Logits that a block may always have: 16 MiB."""


def block_size(head: Head, hidden: Float[Tensor, "N D"]) -> int:
    """How many positions a block has."""
    return max(WIDTHS * hidden.shape[1], SMALL // head.out.out_features)


class BlockLoss(torch.autograd.Function):
    """Σ w · ((1 − ε) · −log p[target] + ε · −mean_V log p + ζ · (log Z)²),  Z = Σ_V exp logit; and, without a gradient,
    Σ w · −log p[target] and Σ w · (log Z)². The gradient flows once, to the hidden states and to the head's parameters;
    the logits are given up for it, so a head must end in an operation that does not keep its output."""

    @staticmethod
    def forward(
        ctx: Any,
        head: Head,
        hidden: Float[Tensor, "N D"],
        targets: Int[Tensor, " N"],
        weights: Float[Tensor, " N"],
        smoothing: float,
        zeta: float,
        *parameters: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        wide = torch.promote_types(hidden.dtype, torch.float32)
        sums = torch.zeros(3, dtype=wide, device=hidden.device)
        of_hidden = torch.empty_like(hidden)
        of_parameters: list[Tensor] = []
        size = block_size(head, hidden)
        blocks = (one.split(size) for one in (hidden, of_hidden, targets[:, None], weights.to(wide)[:, None]))
        for x, of_x, target, weight in zip(*blocks, strict=True):
            with torch.enable_grad():
                x = x[None].detach().requires_grad_()
                logits = head(x)
            block_sums, gradient = _loss(logits.detach()[0].to(wide), target, weight, smoothing, zeta)
            sums += block_sums
            found, *further = torch.autograd.grad(logits, (x, *parameters), gradient[None].to(logits.dtype))
            del logits, gradient  # before the next block makes its own
            of_x.copy_(found[0])
            if of_parameters:
                torch._foreach_add_(of_parameters, further)
            else:
                of_parameters = list(further)
            del found, further
        ctx.save_for_backward(of_hidden, *of_parameters)
        objective, nats, squared_log_z = sums.unbind()
        ctx.mark_non_differentiable(nats, squared_log_z)
        return objective, nats, squared_log_z

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor, *unused: Tensor) -> tuple[Tensor | None, ...]:
        of_hidden, *of_parameters = (one.mul_(grad) for one in ctx.saved_tensors)
        return None, of_hidden, None, None, None, None, *of_parameters


def _loss(
    logits: Float[Tensor, "N V"],
    target: Int[Tensor, "N 1"],
    weight: Float[Tensor, "N 1"],
    smoothing: float,
    zeta: float,
) -> tuple[Float[Tensor, " 3"], Float[Tensor, "N V"]]:
    """The three sums, and the gradient of the first, which is written over the logits:
    ∂/∂logit = w · ((1 + 2ζ log Z) · p − (1 − ε) · [target] − ε / V)."""
    chosen, top = logits.gather(1, target), logits.amax(1, keepdim=True)
    mean = logits.mean(1, keepdim=True) if smoothing else chosen
    total = logits.sub_(top).exp_().sum(1, keepdim=True)
    log_z = top + total.log()
    nats, squared = log_z - chosen, log_z.square()
    objective = (1 - smoothing) * nats + smoothing * (log_z - mean) + zeta * squared
    gradient = logits.mul_(weight * (1 + 2 * zeta * log_z) / total)
    gradient.scatter_add_(1, target, (smoothing - 1) * weight)
    if smoothing:
        gradient.sub_(weight * (smoothing / logits.shape[1]))
    return torch.stack([(weight * one).sum() for one in (objective, nats, squared)]), gradient
