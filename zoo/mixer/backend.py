"""Two ways to compute the same attention: written out, and torch's fused kernel. They agree to rounding."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from einops import einsum, rearrange
from jaxtyping import Float
from torch import Tensor

from zoo.context import Context

Attend = Callable[..., Tensor]
"""attend(q, k, v, context, window=, scale=, dropout=) → (B, H, T, K)"""


def plain(
    q: Float[Tensor, "B H T K"],
    k: Float[Tensor, "B G S K"],
    v: Float[Tensor, "B G S K"],
    context: Context,
    *,
    window: int | None,
    scale: float,
    dropout: float,
) -> Float[Tensor, "B H T K"]:
    """softmax(scale · q kᵀ + bias) v over the visible keys; query heads H come in G consecutive groups, one key–value
    head each. Scores are normalised in float32. A query that sees no key gets zeros."""
    groups = k.shape[1]
    q = rearrange(q, "B (G R) T K -> B G R T K", G=groups)
    scores = einsum(q, k, "B G R T K, B G S K -> B G R T S").float() * scale
    bias = context.position_bias()
    if bias is not None:
        scores = scores + rearrange(bias, "B (G R) T S -> B G R T S", G=groups)
    visible = context.visible(window)
    if visible is None:
        weights = scores.softmax(dim=-1)
    else:
        hidden = rearrange(~visible, "B T S -> B 1 1 T S")
        weights = scores.masked_fill(hidden, torch.finfo(scores.dtype).min).softmax(dim=-1).masked_fill(hidden, 0.0)
    weights = F.dropout(weights, dropout, training=dropout > 0).to(v.dtype)
    mixed = einsum(weights, v, "B G R T S, B G S K -> B G R T K")
    return rearrange(mixed, "B G R T K -> B (G R) T K")


def fused(
    q: Float[Tensor, "B H T K"],
    k: Float[Tensor, "B G S K"],
    v: Float[Tensor, "B G S K"],
    context: Context,
    *,
    window: int | None,
    scale: float,
    dropout: float,
) -> Float[Tensor, "B H T K"]:
    """The same by `scaled_dot_product_attention`."""
    bias = context.position_bias()
    grouped = k.shape[1] != q.shape[1]
    if bias is None and context.only_causal(window):
        return F.scaled_dot_product_attention(
            q, k, v, dropout_p=dropout, is_causal=True, scale=scale, enable_gqa=grouped
        )
    visible = context.visible(window)
    mask = None if visible is None else visible[:, None]
    if bias is not None:
        bias = bias.to(q.dtype)
        mask = bias if mask is None else bias.masked_fill(~mask, float("-inf"))
    mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout, scale=scale, enable_gqa=grouped)
    if visible is None or context.keys.real is None:
        return mixed
    return mixed.masked_fill(~visible.any(-1)[:, None, :, None], 0.0)


BACKENDS: dict[str, Attend] = {"plain": plain, "fused": fused}
