from jaxtyping import Float
from torch import Tensor

from zoo.context import Context
from zoo.mixer.backend import Scores, plain


def one_query(
    q: Float[Tensor, "B H T K"],
    k: Float[Tensor, "B G S K"],
    v: Float[Tensor, "B G S U"],
    context: Context,
    scores: Scores,
) -> Float[Tensor, "B H T U"]:
    """`plain` where there is one query that sees all keys, as products and sums that a compiler makes one loop of.
    Eagerly it is slower than either backend; anything else is left to `plain`."""
    bias, visible = context.position_bias(q), context.visible(scores.window)
    if q.shape[2] != 1 or visible is not None or scores.dropout.active:
        return plain(q, k, v, context, scores)
    grouped = q.unflatten(1, (k.shape[1], -1))  # B G R 1 K
    logits = (grouped * k[:, :, None]).sum(-1).float() * scores.scale
    if bias is not None:
        logits = logits + bias.unflatten(1, (k.shape[1], -1)).squeeze(3)
    weights = logits.softmax(-1).to(v.dtype)
    return (weights[..., None] * v[:, :, None]).sum(3).flatten(1, 2)[:, :, None]
