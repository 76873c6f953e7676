"""Three ways to compute the same attention: written out, by matrix products that take the mask in, and by torch's fused
kernel. They agree to rounding; which is fastest depends on device, dtype and length (see zoo.training.runtime)."""

from functools import partial

import torch
import torch.nn.functional as F
from einops import einsum, rearrange
from jaxtyping import Float
from torch import Tensor

from zoo.context import Attend, Context, Scores
from zoo.mixer.scaled_product import scaled_product


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
    scores.dropout.begin(q.device)
    if bias is None and context.only_causal(scores.window):
        return attend(q, k, v, is_causal=True)
    visible = context.visible(scores.window)
    mask = None if visible is None else visible[:, None]
    if bias is not None:
        bias = bias.to(q.dtype)
        mask = bias if mask is None else bias.masked_fill(~mask, float("-inf"))
    return _zero_where_blind(attend(q, k, v, attn_mask=mask), context, scores.window)


def products(
    q: Float[Tensor, "B H T K"],
    k: Float[Tensor, "B G S K"],
    v: Float[Tensor, "B G S U"],
    context: Context,
    scores: Scores,
) -> Float[Tensor, "B H T U"]:
    """The same by two matrix products, the first of which scales the scores and adds mask and bias to them. Scores have
    the dtype of q; a softmax keeps its sums in float32 inside."""
    groups, repeats = k.shape[1], q.shape[1] // k.shape[1]
    bias, visible = context.position_bias(q), context.visible(scores.window)
    rows, keys, values = rearrange(q, "B (G R) T K -> (B G) (R T) K", G=groups), k.flatten(0, 1), v.flatten(0, 1)
    if bias is not None:
        bias = bias.to(q.dtype)
        added = bias if visible is None else bias.masked_fill(~visible[:, None], _low(q.dtype))
        logits = _scores(rows, keys, added.expand(-1, q.shape[1], -1, -1), groups, scores.scale)
    elif visible is not None:
        key = ("added", scores.window, q.dtype, context.queries, context.keys)
        mask = context.once(key, lambda: torch.zeros_like(visible, dtype=q.dtype).masked_fill(~visible, _low(q.dtype)))
        logits = _scores(rows, keys, mask[:, None].expand(-1, repeats, -1, -1), 1, scores.scale)
    else:
        logits = torch.baddbmm(rows.new_zeros(1, 1, 1), rows, keys.mT, beta=0, alpha=scores.scale)
    mixed = torch.bmm(scores.dropout(logits.softmax(dim=-1)).to(v.dtype), values)
    mixed = rearrange(mixed, "(B G) (R T) U -> B (G R) T U", G=groups, R=repeats)
    return _zero_where_blind(mixed, context, scores.window)


def _scores(rows: Tensor, keys: Tensor, added: Float[Tensor, "R H T S"], groups: int, scale: float) -> Tensor:
    """scale · q kᵀ + what is added: per row of the batch and per group, or the same for all of them."""
    added = rearrange(added, "B (G R) T S -> B G (R T) S", G=groups)
    if len(added) > 1 or groups > 1:
        batch = len(rows) // groups if groups > 1 else len(added)
        added = added.expand(batch, len(rows) // batch, -1, -1).flatten(0, 1)
    else:
        added = added[0]
    return scaled_product(added, rows, keys, scale)


def _low(dtype: torch.dtype) -> float:
    """What hides a score: its weight is exactly 0, and no sum with a score overflows."""
    return torch.finfo(dtype).min / 2


def _zero_where_blind(mixed: Float[Tensor, "B H T U"], context: Context, window: int | None) -> Tensor:
    """A query that sees no key, which only padding can bring about, gets zeros."""
    visible = context.visible(window)
    if visible is None or context.keys.real is None:
        return mixed
    key = ("blind", window, context.queries, context.keys)
    return mixed.masked_fill(context.once(key, lambda: ~visible.any(-1)[:, None, :, None]), 0.0)


BACKENDS: dict[str, Attend] = {"plain": plain, "fused": fused, "products": products}
