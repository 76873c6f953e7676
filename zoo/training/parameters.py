"""Which parameters a model has, under their own names, and which of them decay."""

from typing import Any

from torch import Tensor, nn

from zoo.bare import bare
from zoo.roles import MATRICES, TABLES, Role, roles

DECAYED = MATRICES | {Role.ROUTER}

Group = dict[str, Any]
"""A parameter group as torch's optimizers take it: `params` are (name, parameter) pairs; `group` names it."""


def decays(role: Role, parameter: Tensor, decay_embeddings: bool) -> bool:
    """Whether weight decay applies: matrices inside layers always, tables and the head by the switch; never a gain, a
    bias, a vector or a parameter with a fill of its own."""
    return parameter.ndim >= 2 and (role in DECAYED or (decay_embeddings and role in TABLES))


def decay_groups(
    model: nn.Module, weight_decay: float, decay_embeddings: bool, without: frozenset[str] = frozenset()
) -> list[Group]:
    """The groups `decayed` and `plain`; a tied parameter is in the group of its first name. `without` leaves out the
    parameters that another optimizer has. Empty groups are left out."""
    parameters = dict(bare(model).named_parameters())
    decayed: Group = {"params": [], "weight_decay": weight_decay, "group": "decayed"}
    plain: Group = {"params": [], "weight_decay": 0.0, "group": "plain"}
    for name, (role, _) in roles(bare(model)).items():
        if name not in without:
            group = decayed if decays(role, parameters[name], decay_embeddings) else plain
            group["params"].append((name, parameters[name]))
    return [group for group in (decayed, plain) if group["params"]]
