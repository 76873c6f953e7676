import torch
from torch import nn

from zoo.training.optimizer import Optimizer, can_fuse, check_adam, check_rates, optimizers
from zoo.training.parameters import decay_groups
from zoo.training.uncompiled import uncompiled


@optimizers.register("adamw")
class AdamW(Optimizer):
    """m = β₁m + (1−β₁)g;  v = β₂v + (1−β₂)g²;  w ← (1 − lr·λ)·w − lr · m̂ / (√v̂ + eps);  m̂ = m/(1−β₁ᵗ), v̂ = v/(1−β₂ᵗ).

    paper: Loshchilov & Hutter 2019, arXiv:1711.05101
    differs: λ is multiplied by the learning rate, as in torch; the paper keeps the two apart.
    """

    def __init__(
        self,
        model: nn.Module,
        *,
        lr: float = 3e-3,
        betas: tuple[float, float] = (0.9, 0.99),
        eps: float = 1e-8,
        weight_decay: float = 0.1,
        decay_embeddings: bool = False,
        clip: float | None = 1.0,
        ema: float | None = None,
    ):
        check_rates(lr, weight_decay)
        check_adam(betas, eps)
        groups = decay_groups(model, weight_decay, decay_embeddings)
        inner = uncompiled(torch.optim.AdamW)(groups, lr=lr, betas=betas, eps=eps, fused=can_fuse(model.parameters()))
        super().__init__(model, [inner], lr=lr, clip=clip, ema=ema)
