"""The loop: micro-batches in, one optimizer step out, a record of each."""

import logging
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn

from zoo.dropout import seed_dropout
from zoo.objective import Task
from zoo.training.divergence import Diverged, culprit
from zoo.training.forward import Forward, Whole
from zoo.training.loss_scale import LossScale
from zoo.training.optimizer import Optimizer
from zoo.training.schedule import Schedule

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Step:
    """What one update was like."""

    step: int
    """Updates made so far, this one included: the first has step 1."""
    loss: float | None
    """Nats per scored target, without smoothing and auxiliary losses; None when nothing was scored."""
    auxiliary: Mapping[str, float]
    """Each auxiliary loss as it was added to the objective."""
    tokens: int
    """Positions seen since the run began: see `positions_of`."""
    positions: int
    """Positions of this step."""
    flops: int
    """Floating-point operations of this step, as `cost` counts them."""
    scored: int
    """Scored targets of this step."""
    lr: float
    """The rate this update used."""
    grad_norm: float | None
    """Global gradient norm before clipping; None when nothing was scored, or when it overflowed a scaled loss and no
    update was made."""
    seconds: float
    """Time this step took."""


def positions_of(task: Task) -> int:
    """The token axis: every position that the model is given, of the target and of the source that it reads, whether
    it is padding or not and scored or not."""
    return sum(task.inputs[name].numel() for name in ("tokens", "source") if name in task.inputs)


def fit(
    model: nn.Module,
    optimizer: Optimizer,
    schedule: Schedule,
    tasks: Callable[[int], Sequence[Task]],
    *,
    steps: int,
    seed: int,
    device: torch.device,
    start: int = 0,
    tokens: int = 0,
    cost: Callable[[Task], int] = lambda task: 0,
    label_smoothing: float = 0.0,
    output_z: float = 0.0,
    autocast: torch.dtype | None = None,
    forward: Callable[..., Forward] = Whole,
    scale: LossScale | None = None,
) -> Iterator[Step]:
    """Make the updates start … steps − 1 and yield a record after each. `tasks(i)` are the micro-batches of update i;
    `tokens` are the positions seen before `start`; `cost` counts the operations of
    a step on a task; `forward` is how the loss of a task is computed. One transfer from the device per step.

        gradient = ∂/∂w Σ_m [ objective_m / W + (W_m / W) · auxiliary_m ]    W_m = Σ weights of batch m;  W = Σ_m W_m

    so cutting the same sequences into other micro-batches changes the gradient only by rounding, but for auxiliary
    losses whose statistics are taken per micro-batch. The schedule counts updates. A micro-batch that scores nothing is
    skipped; when no micro-batch scores anything the weights stay and the update's number is used up.
    Raises Diverged when the loss or the gradient norm is not finite, before that update touches the weights. With a
    `scale` (float16) an update whose gradient overflows is dropped instead, until the scale is below 1.
    """
    model.train()
    told = False
    passes = forward(model, device, label_smoothing, output_z, autocast)
    for index in range(start, steps):
        began = time.perf_counter()
        update = Update(passes, tasks(index), index, seed)
        positions = sum(positions_of(task) for task in update.tasks)
        tokens += positions
        if not (update.total or told):
            log.warning("step %d scores no target: no update is made; later steps of that kind are not told", index + 1)
            told = True
        factor = schedule.factor(index, steps)
        values = _make(update, optimizer, factor, scale)
        loss, grad_norm = values.pop("loss", None), values.pop("grad_norm", None)
        yield Step(
            step=index + 1,
            loss=loss,
            auxiliary=values,
            tokens=tokens,
            positions=positions,
            flops=sum(map(cost, update.tasks)),
            scored=round(update.total),
            lr=optimizer.lr * factor,
            grad_norm=grad_norm,
            seconds=time.perf_counter() - began,
        )


@dataclass(frozen=True)
class Update:
    """The forward and backward passes of one update. They can be repeated: each dropout draws from a stream keyed by
    the seed, the step, the micro-batch and its own place in the model, so that neither a resumed run nor another part
    moves it."""

    forward: Forward
    tasks: Sequence[Task]
    step: int
    seed: int

    @cached_property
    def weights(self) -> list[float]:
        """Σ of the weights of each micro-batch; taken where the tasks come from, so no accelerator is waited for."""
        return [float(task.weights.sum()) for task in self.tasks]

    @property
    def total(self) -> float:
        """Σ of all weights."""
        return sum(self.weights)

    def backward(self, scale: LossScale | None = None) -> dict[str, Tensor]:
        """Add up the gradients of all micro-batches, times the scale; returns `loss` and the auxiliary losses as means
        of the update."""
        sums: dict[str, Tensor] = {}
        for objective, values in self.passes():
            (objective if scale is None else scale.scaled(objective)).backward()
            for name, value in values.items():
                sums[name] = sums[name] + value if name in sums else value
        return sums

    def again(self) -> None:
        """The same forward passes once more."""
        for _ in self.passes():
            pass

    def passes(self) -> Iterator[tuple[Tensor, dict[str, Tensor]]]:
        """Each micro-batch's share of the objective, and of the values to report."""
        for micro, (task, weight) in enumerate(zip(self.tasks, self.weights, strict=True)):
            if not weight:
                continue
            seed_dropout(self.forward.dropouts, self.forward.device, self.seed, self.step, micro)
            terms = self.forward(task)
            share = weight / self.total
            added = {name: value * share for name, value in terms.auxiliary.items()}
            objective = sum(added.values(), start=terms.objective / self.total)
            values = {"loss": terms.nats / self.total, **{name: value.detach() for name, value in added.items()}}
            if terms.output_z is not None:
                values["output_z"] = terms.output_z * share
            yield objective, values


def _make(update: Update, optimizer: Optimizer, factor: float, scale: LossScale | None) -> dict[str, float]:
    """Make one update, unless it diverges; returns loss, auxiliary losses and gradient norm, or nothing when there is
    nothing to score."""
    if not update.total:
        return {}
    optimizer.zero_grad()
    sums = update.backward(scale)
    if scale is not None:
        scale.divide(optimizer)
    norm = optimizer.grad_norm()
    values = _fetch({**sums, "grad_norm": norm})
    if scale is not None:
        scale.end()
        if not math.isfinite(values["grad_norm"]) and math.isfinite(values["loss"]) and scale.value >= 1:
            del values["grad_norm"]
            return values
    if not all(math.isfinite(value) for value in values.values()):
        where = culprit(update.forward.model, update.again)
        raise Diverged(update.step + 1, where, then=f"; the weights are those of step {update.step}")
    optimizer.step(factor, norm)
    return values


def _fetch(values: dict[str, Tensor]) -> dict[str, float]:
    """All values in one transfer from the device."""
    return dict(zip(values, torch.stack([value.float() for value in values.values()]).tolist(), strict=True))
