"""From a task to its loss, with `runtime.logits` whole or in blocks."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from zoo.bare import bare
from zoo.dropout import dropouts_of
from zoo.ffn import Auxiliary
from zoo.objective import Task
from zoo.training.blocks import BlockLoss
from zoo.training.loss import cross_entropy, squared_log_z


@dataclass(frozen=True)
class Terms:
    """Of one micro-batch: the sum over its scored targets that is minimised, with `output_z` in it; their nats; and the
    losses of the parts, each a mean over the micro-batch."""

    objective: Tensor
    nats: Tensor
    output_z: Tensor | None
    """Such a mean too, to be reported; None where its coefficient is 0."""
    auxiliary: Auxiliary


class Forward(ABC):
    """Contract: called with a task that lies on the CPU, it gives the terms of its loss, computed on the device."""

    def __init__(
        self,
        model: nn.Module,
        device: torch.device,
        label_smoothing: float = 0.0,
        output_z: float = 0.0,
        autocast: torch.dtype | None = None,
    ):
        self.model, self.device, self.autocast = model, device, autocast
        self.dropouts = dropouts_of(bare(model))
        self.label_smoothing, self.output_z = label_smoothing, output_z

    @abstractmethod
    def __call__(self, task: Task) -> Terms: ...

    def computing(self) -> AbstractContextManager[Any]:
        """Matrix products in the dtype of the runtime."""
        return torch.autocast(self.device.type, self.autocast, enabled=self.autocast is not None)


class Whole(Forward):
    """The plain way: the logits of all positions."""

    def __call__(self, task: Task) -> Terms:
        here = task.to(self.device)
        with self.computing():
            output = self.model(**here.inputs)
        loss = cross_entropy(output.logits, here.targets, here.weights, self.label_smoothing)
        if not self.output_z:
            return Terms(loss.objective, loss.nats, None, output.auxiliary)
        penalty = self.output_z * squared_log_z(output.logits, here.weights)
        return Terms(loss.objective + loss.weight * penalty, loss.nats, penalty.detach(), output.auxiliary)


class Blocks(Forward):
    """The same up to rounding, by the logits of the scored positions only, a block of them at a time. `read` is that of
    the model, compiled or not."""

    def __init__(self, *setting: Any, read: Callable[..., tuple[Tensor, Auxiliary]], **named: Any):
        super().__init__(*setting, **named)
        self.read = read

    def __call__(self, task: Task) -> Terms:
        here, scored = task.to(self.device), task.weights.flatten().nonzero().squeeze(1)
        everything = len(scored) == task.weights.numel()
        scored = scored.to(self.device)

        def chosen(of_all: Tensor) -> Tensor:
            return of_all.flatten(0, 1) if everything else of_all.flatten(0, 1).index_select(0, scored)

        head: Any = bare(self.model).head
        weights = chosen(here.weights)
        parameters = [one for one in head.parameters() if one.requires_grad]
        with self.computing():
            hidden, auxiliary = self.read(**here.inputs)
            about = chosen(here.targets), weights, self.label_smoothing, self.output_z
            objective, nats, squared = BlockLoss.apply(head, chosen(hidden), *about, *parameters)
        penalty = self.output_z * squared / weights.sum() if self.output_z else None
        return Terms(objective, nats, penalty, auxiliary)
