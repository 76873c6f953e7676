"""What to say when a loss or a gradient stops being finite."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from zoo.bare import bare
from zoo.errors import RunFailed
from zoo.training.uncompiled import eagerly


class Diverged(RunFailed):
    """`what` is not finite at that step; `layer` is where it first shows."""

    state = "diverged"

    def __init__(self, step: int, layer: str, what: str = "the loss or its gradient", then: str = ""):
        super().__init__(
            f"step {step}: {what} is not finite, first in {layer}{then}."
            " Lower optimizer.lr, lengthen schedule.warmup, or set optimizer.clip"
        )
        self.step = step
        self.layer = layer


def refuse_broken(model: nn.Module, average: Mapping[str, Tensor], step: int) -> None:
    """Raises Diverged when a weight, or its average, is not finite: such a model must not be saved as a good one."""
    for name, tensor in [*bare(model).state_dict().items(), *average.items()]:
        if not tensor.isfinite().all():
            raise Diverged(step, name, "a weight")


def culprit(model: nn.Module, forward: Callable[[], object]) -> str:
    """The first module, in the order of the forward pass, whose output is not finite when `forward` is run again;
    else the last parameter, so the first in the order of the backward pass, whose gradient is not finite."""
    bad: list[str] = []

    def watch(name: str) -> Callable[[nn.Module, Any, Any], None]:
        def hook(module: nn.Module, inputs: Any, output: Any) -> None:
            if not bad and not all(bool(one.isfinite().all()) for one in _tensors(output)):
                bad.append(name)

        return hook

    # Named from the bare model and run without compilation: compiled code calls no hooks.
    hooks = [module.register_forward_hook(watch(name or "logits")) for name, module in bare(model).named_modules()]
    try:
        with torch.no_grad(), eagerly():
            forward()
    finally:
        for hook in hooks:
            hook.remove()
    gradients = [(name, parameter.grad) for name, parameter in bare(model).named_parameters()]
    bad += [name for name, grad in reversed(gradients) if grad is not None and not grad.isfinite().all()]
    return bad[0] if bad else "the loss"


def _tensors(output: Any) -> list[Tensor]:
    """Floating-point tensors among a module's output: a tensor, a tuple of them, or an object with them as fields."""
    if isinstance(output, Tensor):
        return [output] if output.is_floating_point() else []
    if isinstance(output, dict):
        output = list(output.values())
    if isinstance(output, tuple | list):
        return [tensor for one in output for tensor in _tensors(one)]
    return [tensor for one in getattr(output, "__dict__", {}).values() for tensor in _tensors(one)]
