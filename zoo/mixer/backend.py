"""Two ways to compute the same attention: written out, and torch's fused kernel. They agree to rounding."""

from dataclasses import dataclass
from functools import partial
from typing import Protocol, runtime_checkable

import torch
import torch.nn.functional as F
from einops import einsum, rearrange
from jaxtyping import Float
from torch import Tensor

from zoo.context import Context
from zoo.dropout import Dropout


@dataclass(frozen=True)
class Scores:
    """What attention does between q kᵀ and the weights: the factor of the scores, the window that a query sees, the
    dropout of the weights."""

    scale: float
    window: int | None
    dropout: Dropout


@runtime_checkable
class Attend(Protocol):
    """A way to compute attention. Keys and values may differ in width."""

    def __call__(
        self,
        q: Float[Tensor, "B H T K"],
        k: Float[Tensor, "B G S K"],
        v: Float[Tensor, "B G S U"],
        context: Context,
        scores: Scores,
    ) -> Float[Tensor, "B H T U"]: ...


def plain(
    q: Float[Tensor, "B H T K"],
    k: Float[Tensor, "B G S K"],
    v: Float[Tensor, "B G S U"],
    context: Context,
    scores: Scores,
) -> Float[Tensor, "B H T U"]:
    """softmax(scale · q kᵀ + bias) v over the visible keys; query heads H come in G consecutive groups, one key–value
    head each. A query that sees no key gets zeros."""
    weights = scores.dropout(weights_of(q, k, context, scores)).to(v.dtype)
    mixed = einsum(weights, v, "B G R T S, B G S U -> B G R T U")
    return rearrange(mixed, "B G R T U -> B (G R) T U")


def weights_of(
    q: Float[Tensor, "B H T K"], k: Float[Tensor, "B G S K"], context: Context, scores: Scores
) -> Float[Tensor, "B G R T S"]:
    """softmax(scale · q kᵀ + bias) over the visible keys, normalised in float32; zeros for a query that sees no key."""
    groups = k.shape[1]
    bias, visible = context.position_bias(q), context.visible(scores.window)
    grouped = rearrange(q, "B (G R) T K -> B G R T K", G=groups)
    logits = einsum(grouped, k, "B G R T K, B G S K -> B G R T S").float() * scores.scale
    if bias is not None:
        logits = logits + rearrange(bias, "B (G R) T S -> B G R T S", G=groups)
    if visible is None:
        return logits.softmax(dim=-1)
    hidden = rearrange(~visible, "B T S -> B 1 1 T S")
    return logits.masked_fill(hidden, torch.finfo(logits.dtype).min).softmax(dim=-1).masked_fill(hidden, 0.0)


def fused(
    q: Float[Tensor, "B H T K"],
    k: Float[Tensor, "B G S K"],
    v: Float[Tensor, "B G S U"],
    context: Context,
    scores: Scores,
) -> Float[Tensor, "B H T U"]:
    """The same by `scaled_dot_product_attention`."""
    bias = context.position_bias(q)
    attend = partial(
        F.scaled_dot_product_attention,
        dropout_p=scores.dropout.active,
        scale=scores.scale,
        enable_gqa=k.shape[1] != q.shape[1],
    )
    scores.dropout.begin()
    if bias is None and context.only_causal(scores.window):
        return attend(q, k, v, is_causal=True)
    visible = context.visible(scores.window)
    mask = None if visible is None else visible[:, None]
    if bias is not None:
        bias = bias.to(q.dtype)
        mask = bias if mask is None else bias.masked_fill(~mask, float("-inf"))
    mixed = attend(q, k, v, attn_mask=mask)
    if visible is None or context.keys.real is None:
        return mixed
    return mixed.masked_fill(~visible.any(-1)[:, None, :, None], 0.0)


BACKENDS: dict[str, Attend] = {"plain": plain, "fused": fused}
