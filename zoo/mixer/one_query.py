import torch
from jaxtyping import Float
from torch import Tensor

from zoo.context import Context, Scores
from zoo.mixer.backend import plain


def one_query(
    q: Float[Tensor, "B H T K"],
    k: Float[Tensor, "B G S K"],
    v: Float[Tensor, "B G S U"],
    context: Context,
    scores: Scores,
) -> Float[Tensor, "B H T U"]:
    """`plain` where there is one query, as products and sums that a compiler makes one loop of; eagerly it is slower
    than any backend. The scale acts on the query, which is small. All else is left to `plain`."""
    if q.shape[2] != 1 or scores.dropout.active:
        return plain(q, k, v, context, scores)
    bias, visible = context.position_bias(q), context.visible(scores.window)
    grouped = (q * scores.scale).unflatten(1, (k.shape[1], -1))  # B G R 1 K
    logits = (grouped * k[:, :, None]).sum(-1).float()
    if bias is not None:
        logits = logits + bias.unflatten(1, (k.shape[1], -1)).squeeze(3)
    if visible is None:
        weights = logits.softmax(-1)
    else:
        hidden = ~visible[:, None]  # B 1 1 S
        weights = logits.masked_fill(hidden, torch.finfo(logits.dtype).min).softmax(-1).masked_fill(hidden, 0.0)
    weights = weights.to(v.dtype)
    return (weights[..., None] * v[:, :, None]).sum(3).flatten(1, 2)[:, :, None]
