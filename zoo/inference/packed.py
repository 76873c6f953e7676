"""A copy of a model whose matrices lie as a product of few rows reads them fastest."""

import copy
from itertools import chain
from weakref import finalize

import torch
from torch import nn

from zoo.model import Model


def packed(model: Model) -> Model:
    """A copy in evaluation mode. The matrix of a linear layer lies transposed, so that x Wᵀ reads it in order, unless a
    table shares it, which reads its rows."""
    made = copy.deepcopy(model).eval().requires_grad_(False)
    linear = {id(one.weight): one.weight for one in made.modules() if isinstance(one, nn.Linear)}
    for module in made.modules():
        if not isinstance(module, nn.Linear):
            for own in module.parameters(recurse=False):
                linear.pop(id(own), None)
    for weight in linear.values():
        weight.data = weight.t().contiguous().t()
    return made


@torch.no_grad()
def refresh(made: Model, model: Model) -> None:
    """Take over the values that the model's parameters and buffers have now."""
    own = dict(chain(made.named_parameters(), made.named_buffers()))
    for name, value in chain(model.named_parameters(), model.named_buffers()):
        own[name].copy_(value)


def free_after(owner: object, made: Model) -> None:
    """Give the memory of that copy back when its owner is gone: torch keeps what a program was loaded with."""
    storages = [one.untyped_storage() for one in chain(made.parameters(), made.buffers())]
    finalize(owner, _empty, storages).atexit = False


def _empty(storages: list[torch.UntypedStorage]) -> None:
    for one in storages:
        one.resize_(0)
