"""How large the gradient is in each sublayer: where learning reaches, and where it does not."""

import math
from collections import defaultdict

import torch
from torch import nn

from zoo.bare import bare
from zoo.block import Block
from zoo.objective import Task
from zoo.training.loss import cross_entropy


def gradient_norms(model: nn.Module, factor: float = 1.0) -> dict[str, float]:
    """The norm of the gradients that the parameters have now, times `factor`, by sublayer: a child of a block (its
    mixer, its ffn, its norms), else the module that owns the parameter. Parameters without a gradient do not count."""
    modules = dict(bare(model).named_modules())
    inside = {name for name in modules if isinstance(modules.get(name.rpartition(".")[0]), Block)}
    squares: dict[str, list[torch.Tensor]] = defaultdict(list)
    for name, parameter in bare(model).named_parameters():
        if parameter.grad is None:
            continue
        owners = [name[:i] for i, letter in enumerate(name) if letter == "."]
        owner = next((one for one in owners if one in inside), owners[-1] if owners else name)
        squares[owner].append(parameter.grad.detach().float().square().sum())
    if not squares:
        return {}
    totals = torch.stack([torch.stack(some).sum() for some in squares.values()]).tolist()
    return {name: math.sqrt(total) * factor for name, total in zip(squares, totals, strict=True)}


def unclipped(grad_norm: float | None, clip: float | None) -> float:
    """What the gradients after an update must be multiplied by to be those before it was clipped."""
    return 1.0 if grad_norm is None or clip is None else max(1.0, (grad_norm + 1e-6) / clip)


def gradients_of(model: nn.Module, task: Task, device: torch.device) -> dict[str, float]:
    """`gradient_norms` of the loss on one task, without dropout, in float32. The gradients that the model had are
    gone; nothing else of it changes."""
    was_training = model.training
    model.eval()
    model.zero_grad(set_to_none=True)
    here = task.to(device)
    output = model(**here.inputs)
    loss = cross_entropy(output.logits, here.targets, here.weights, 0.0)
    objective = loss.objective / here.weights.sum() + sum(output.auxiliary.values(), start=loss.objective.new_zeros(()))
    torch.autograd.backward(objective)
    found = gradient_norms(model)
    model.zero_grad(set_to_none=True)
    model.train(was_training)
    return found
