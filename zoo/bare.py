"""What `torch.compile` wraps."""

from typing import TypeVar, cast

from torch import nn

M = TypeVar("M", bound=nn.Module)


def bare(model: M) -> M:
    """The model itself when `torch.compile(model)` wrapped it: then names carry no `_orig_mod.` prefix, a state and the
    model that made it are one, and no step is compiled anew for its length."""
    return cast(M, model._modules.get("_orig_mod", model))
