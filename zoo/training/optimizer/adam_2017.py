import torch
from torch import nn

from zoo.training.optimizer import Optimizer, can_fuse, check_adam, check_rates, optimizers
from zoo.training.parameters import decay_groups
from zoo.training.uncompiled import uncompiled


@optimizers.register("adam_2017")
class Adam2017(Optimizer):
    """m = β₁m + (1−β₁)g;  v = β₂v + (1−β₂)g²;  w ← w − lr · m̂ / (√v̂ + eps), with the constants of the Transformer.

    paper: Kingma & Ba 2015, arXiv:1412.6980; constants of Vaswani et al. 2017, arXiv:1706.03762, section 5.3
    differs: nothing. A `weight_decay` above 0 is not of the paper: it adds λw to the gradient (L2), never decoupled.
    """

    def __init__(
        self,
        model: nn.Module,
        *,
        lr: float = 7e-4,
        betas: tuple[float, float] = (0.9, 0.98),
        eps: float = 1e-9,
        weight_decay: float = 0.0,
        decay_embeddings: bool = False,
        clip: float | None = None,
        ema: float | None = None,
    ):
        check_rates(lr, weight_decay)
        check_adam(betas, eps)
        groups = decay_groups(model, weight_decay, decay_embeddings)
        inner = uncompiled(torch.optim.Adam)(groups, lr=lr, betas=betas, eps=eps, fused=can_fuse(model.parameters()))
        super().__init__(model, [inner], lr=lr, clip=clip, ema=ema)
