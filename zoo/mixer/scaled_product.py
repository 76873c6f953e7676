from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor


def scaled_product(
    added: Float[Tensor, "*N T S"], q: Float[Tensor, "M T K"], k: Float[Tensor, "M S K"], scale: float
) -> Float[Tensor, "M T S"]:
    """added + scale · q kᵀ, in one product.

    The gradient of k is scale · dᵀ q for a gradient d of the result, computed as it lies, (S, K). That of `baddbmm` is
    its transpose; in compiled code of 16-bit floats g++ 12 was seen to turn it around wrongly, into NaN."""
    return _ScaledProduct.apply(added, q, k, scale)


class _ScaledProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, added: Tensor, q: Tensor, k: Tensor, scale: float) -> Tensor:
        product = torch.baddbmm(added, q, k.mT, alpha=scale)
        ctx.save_for_backward(q.to(product.dtype), k.to(product.dtype))
        ctx.scale, ctx.shape = scale, added.shape
        return product

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor, Tensor, None]:
        (gradient,), (q, k) = gradients, ctx.saved_tensors
        added = gradient.sum_to_size(ctx.shape) if ctx.needs_input_grad[0] else None
        return added, torch.bmm(gradient, k) * ctx.scale, torch.bmm(gradient.mT, q) * ctx.scale, None
