import torch
from torch import nn

from zoo.bare import bare
from zoo.roles import MATRICES, roles
from zoo.training.optimizer import Optimizer, can_fuse, check_adam, check_rates, optimizers
from zoo.training.optimizer.newton_schulz import OrthogonalMomentum
from zoo.training.parameters import decay_groups
from zoo.training.uncompiled import uncompiled


@optimizers.register("muon")
class Muon(Optimizer):
    """b = μb + (1−μ)g;  W ← (1 − lr·λ)·W − 0.2·√max(rows, columns) · lr · orthogonalise((1−μ)g + μb)

    for each 2-D matrix that is no table (the roles of `MATRICES`); AdamW has all other parameters. The factor gives a
    Muon update the size of an AdamW update, so both share one `lr` and one `weight_decay`.

    paper: Jordan et al. 2024, kellerjordan.github.io/posts/muon; the factor: Liu et al. 2025, arXiv:2502.16982
    differs: queries, keys, values and each expert have matrices of their own and are orthogonalised each by itself; a
    parameter of three axes, in which a plugin may stack its matrices, goes to AdamW, as routers do. Orthogonalisation
    is 5 Newton–Schulz steps, in the dtype of the weights.
    """

    version = 2
    """1 orthogonalised in bfloat16."""

    def __init__(
        self,
        model: nn.Module,
        *,
        lr: float = 5e-3,
        momentum: float = 0.95,
        betas: tuple[float, float] = (0.9, 0.99),
        eps: float = 1e-8,
        weight_decay: float = 0.1,
        decay_embeddings: bool = False,
        clip: float | None = 1.0,
        ema: float | None = None,
    ):
        check_rates(lr, weight_decay, momentum=momentum)
        check_adam(betas, eps)
        matrices = hidden_matrices(model)
        rest = decay_groups(model, weight_decay, decay_embeddings, without=frozenset(matrices))
        inner: list[torch.optim.Optimizer] = []
        if matrices:
            group = {"params": list(matrices.items()), "weight_decay": weight_decay, "group": "muon"}
            inner.append(uncompiled(OrthogonalMomentum)([group], lr=lr, momentum=momentum))
        if rest:
            fused = can_fuse(model.parameters())
            inner.append(uncompiled(torch.optim.AdamW)(rest, lr=lr, betas=betas, eps=eps, fused=fused))
        super().__init__(model, inner, lr=lr, clip=clip, ema=ema)


def hidden_matrices(model: nn.Module) -> dict[str, nn.Parameter]:
    """What Muon is for: the 2-D parameters inside layers, by name."""
    parameters = dict(bare(model).named_parameters())
    hidden = [name for name, (role, _) in roles(bare(model)).items() if role in MATRICES]
    return {name: parameters[name] for name in hidden if parameters[name].ndim == 2}
