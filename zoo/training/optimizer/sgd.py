import torch
from torch import nn

from zoo.training.optimizer import Optimizer, check_rates, optimizers
from zoo.training.parameters import decay_groups
from zoo.training.uncompiled import uncompiled


@optimizers.register("sgd")
class SGD(Optimizer):
    """b = μb + g + λw (b starts at the first g + λw);  w ← w − lr · b.

    paper: Sutskever et al. 2013, proceedings.mlr.press/v28/sutskever13
    differs: the rate multiplies the whole buffer b, as in torch, so a change of rate acts at once.
    """

    def __init__(
        self,
        model: nn.Module,
        *,
        lr: float = 0.1,
        momentum: float = 0.9,
        weight_decay: float = 0.0,
        decay_embeddings: bool = False,
        clip: float | None = 1.0,
        ema: float | None = None,
    ):
        check_rates(lr, weight_decay, momentum=momentum)
        groups = decay_groups(model, weight_decay, decay_embeddings)
        inner = uncompiled(torch.optim.SGD)(groups, lr=lr, momentum=momentum)
        super().__init__(model, [inner], lr=lr, clip=clip, ema=ema)
