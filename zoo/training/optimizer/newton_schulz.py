"""Momentum that is made orthogonal: what Muon does to a matrix, for all matrices of one shape at once."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from math import sqrt
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

A, B, C = 3.4445, -4.7750, 2.0315
STEPS = 5
AT_ONCE = 2**20
"""Elements of a stack: larger ones leave the cache, and are slower (docs/performance.md)."""


def orthogonalised(matrices: Float[Tensor, "stack rows columns"]) -> Float[Tensor, "stack rows columns"]:
    """X ← aX + (bXXᵀ + c(XXᵀ)²)X, five times, from X = G / ‖G‖: U p(Σ) Vᵀ of G = UΣVᵀ, with p(Σ) of 0.7 to 1.2 but for
    singular values far below the largest. Rows ≤ columns is the cheaper way round.

    paper: Jordan et al. 2024, kellerjordan.github.io/posts/muon
    differs: in the dtype of the matrices; the paper's is bfloat16, for accelerators.
    """
    x = matrices / matrices.norm(dim=(1, 2), keepdim=True).clamp(min=1e-7)
    for _ in range(STEPS):
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=B, alpha=C), x, beta=A)
    return x


class OrthogonalMomentum(torch.optim.Optimizer):
    """b ← μb + (1−μ)g;  W ← (1 − lr·λ)·W − 0.2·√max(rows, columns) · lr · orthogonalised((1−μ)g + μb), of matrices."""

    def __init__(self, groups: Iterable[dict[str, Any]], *, lr: float, momentum: float):
        super().__init__(groups, {"lr": lr, "momentum": momentum, "weight_decay": 0.0})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """One update of each matrix that has a gradient."""
        for group in self.param_groups:
            for alike in stacks(one for one in group["params"] if one.grad is not None):
                momenta = [self._momentum(one, group["momentum"]) for one in alike]
                updates = orthogonalised(torch.stack(momenta))
                for one, update in zip(alike, updates, strict=True):
                    one.mul_(1 - group["lr"] * group["weight_decay"])
                    rate = 0.2 * sqrt(max(one.shape)) * group["lr"]
                    one.add_(update if is_wide(one) else update.mT, alpha=-rate)

    def _momentum(self, matrix: Tensor, memory: float) -> Float[Tensor, "rows columns"]:
        """Nesterov's, its shorter side as rows."""
        state, gradient = self.state[matrix], matrix.grad
        assert gradient is not None
        if not state:
            state["momentum_buffer"] = torch.zeros_like(matrix)
        momentum = gradient.lerp(state["momentum_buffer"].lerp_(gradient, 1 - memory), memory)
        return momentum if is_wide(matrix) else momentum.mT


def is_wide(matrix: Tensor) -> bool:
    """Whether it has no more rows than columns."""
    return matrix.shape[0] <= matrix.shape[1]


def stacks(matrices: Iterable[Tensor]) -> Iterator[list[Tensor]]:
    """Those of one shape or its transpose together, up to `AT_ONCE` elements."""
    alike = defaultdict(list)
    for one in matrices:
        alike[min(one.shape), max(one.shape), one.device, one.dtype].append(one)
    for (rows, columns, *_), some in alike.items():
        most = max(1, AT_ONCE // (rows * columns))
        yield from (some[first : first + most] for first in range(0, len(some), most))
