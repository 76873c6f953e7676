"""What torch wraps so that its compiler steps aside, without the wrapping: its first call imports the compiler, which
takes over a second, a third of a short run, where nothing is ever compiled."""

import inspect
import sys
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import TypeVar

import torch

WRAPPED = ("add_param_group", "state_dict", "load_state_dict")
AnOptimizer = TypeVar("AnOptimizer", bound=torch.optim.Optimizer)


def eagerly() -> AbstractContextManager[object]:
    """Within it a model that was compiled runs as it was written."""
    nothing_is_compiled = "torch._dynamo" not in sys.modules
    return nullcontext() if nothing_is_compiled else torch.compiler.set_stance("force_eager")


@cache
def uncompiled(kind: type[AnOptimizer]) -> type[AnOptimizer]:
    """The same optimizer of torch; its step computes no gradients of itself, `differentiable` is not for it."""
    bare = {name: inspect.unwrap(getattr(kind, name)) for name in WRAPPED}
    return type(kind.__name__, (kind,), {**bare, "step": torch.no_grad()(inspect.unwrap(kind.step))})
