"""How gradients become updates. Groups are made by the role of each parameter; clipping and averaging are shared."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.utils import clip_grads_with_norm_, get_total_norm

from zoo.bare import bare
from zoo.errors import UserError
from zoo.registry import Registry
from zoo.training.average import Average

LARGEST = torch.finfo(torch.float32).max
FUSED = frozenset({"cpu", "cuda", "mps", "xpu"})


class Optimizer:
    """Contract: `Option(model, *, lr, weight_decay, decay_embeddings, clip, ema, ...)`, built after the model is on its
    device. Each parameter of the model is in exactly one group of one torch optimizer.

    An option hands its torch optimizers to this constructor; `lr` is the rate at schedule factor 1, `clip` bounds the
    global gradient norm of one update over all groups, `ema` is the decay of the weight average. `weight_decay` is that
    of the matrices inside layers; the token and position tables and the head have it with `decay_embeddings`.
    """

    def __init__(
        self,
        model: nn.Module,
        inner: Sequence[torch.optim.Optimizer],
        *,
        lr: float,
        clip: float | None,
        ema: float | None,
    ):
        check(clip is None or clip > 0, f"optimizer.clip={clip} must be positive, or null for no clipping")
        check(ema is None or 0 < ema < 1, f"optimizer.ema={ema} must lie between 0 and 1, or be null for no average")
        self.lr = lr
        self.clip = clip
        self.inner = tuple(inner)
        self.parameters = dict(bare(model).named_parameters())
        self.average = None if ema is None else Average(self.parameters, ema)
        grouped = sorted(name for names in self.groups().values() for name in names)
        if grouped != sorted(self.parameters):
            raise TypeError(f"{type(self).__name__} must group each parameter once; it grouped {grouped}")

    def groups(self) -> dict[str, list[str]]:
        """Which parameters are in which group, for the record of a run."""
        return {group["group"]: list(group["param_names"]) for one in self.inner for group in one.param_groups}

    def zero_grad(self) -> None:
        """Forget all gradients."""
        for parameter in self.parameters.values():
            parameter.grad = None

    def grad_norm(self) -> Float[Tensor, ""]:
        """√(Σ g²) over the gradients of all parameters; call it once, after the last backward of an update."""
        return get_total_norm([p.grad for p in self.parameters.values() if p.grad is not None])

    def step(self, lr_factor: float, grad_norm: Float[Tensor, ""]) -> None:
        """One update at rate lr · lr_factor, with gradients scaled down to `clip` when their norm is above it."""
        if self.clip is not None:
            clip_grads_with_norm_(self.parameters.values(), self.clip, grad_norm)
        for one in self.inner:
            for group in one.param_groups:
                group["lr"] = self.lr * lr_factor
            one.step()
        if self.average is not None:
            self.average.update()

    @contextmanager
    def averaged(self) -> Iterator[None]:
        """Within the block the model has the averaged weights, when `ema` is on; use it to evaluate."""
        if self.average is None:
            yield
        else:
            with self.average.applied():
                yield

    def state_dict(self) -> dict[str, dict[str, Any]]:
        """The state of each parameter by its name: plain dicts and tensors, {} for one that has had no gradient yet.
        Rates and groups come from the config, and the weight average is kept apart, in `average`."""
        return {name: state for one in self.inner for name, state in _named_state(one)}

    def load_state_dict(self, state: Mapping[str, Mapping[str, Any]]) -> None:
        """Continue from a saved `state_dict`. Raises UserError, and changes nothing, unless it has each parameter of
        this optimizer and no other, and of each what the optimizer keeps, in its shape."""
        unknown = sorted(map(str, state.keys() - self.parameters.keys()))
        check(not unknown, f"the saved optimizer state belongs to another model; it has {', '.join(unknown)}")
        missing = sorted(self.parameters.keys() - state.keys())
        check(not missing, f"the saved optimizer state belongs to another model; it lacks {', '.join(missing)}")
        taken = [
            (one, {i: taken_over(name, state[name], kept, p) for i, (name, kept, p) in enumerate(_slots(one))})
            for one in self.inner
        ]
        for one, saved in taken:
            states = {i: values for i, values in saved.items() if values}
            one.load_state_dict({"state": states, "param_groups": one.state_dict()["param_groups"]})


def check(right: bool, message: str) -> None:
    """Raises UserError with the message unless `right`."""
    if not right:
        raise UserError(message)


def check_rates(lr: float, weight_decay: float, **shares: float) -> None:
    """Refuse a rate that is not positive, a negative decay, either beyond float32, and a momentum outside [0, 1)."""
    check(0 < lr <= LARGEST, f"optimizer.lr={lr} must be positive, and a number of float32")
    check(
        0 <= weight_decay <= LARGEST, f"optimizer.weight_decay={weight_decay} must be a number of float32, at least 0"
    )
    for name, value in shares.items():
        check(0 <= value < 1, f"optimizer.{name}={value} must be at least 0 and below 1")


def check_adam(betas: tuple[float, float], eps: float) -> None:
    """Refuse memories outside [0, 1), and an eps that would let a gradient of zero divide by zero."""
    check(all(0 <= one < 1 for one in betas), f"optimizer.betas={list(betas)} must each be at least 0 and below 1")
    check(eps > 0, f"optimizer.eps={eps} must be positive")


def taken_over(name: str, state: Any, kept: Mapping[str, Any], parameter: Tensor) -> dict[str, Any]:
    """A copy of the saved state of a parameter, laid out in memory as the parameter is: fused kernels trust that.
    `kept` is what the optimizer keeps of a parameter of shape [2, 2]. Refuses whatever is not that."""
    where = f"the saved optimizer state of {name}"
    check(isinstance(state, Mapping), f"{where} is damaged: it is no dict")
    keys = ", ".join(map(str, kept))
    check(not state or state.keys() == kept.keys(), f"{where} is damaged: it must have {keys or 'nothing'}")
    return {key: _copied(f"{where} ({key})", value, kept[key], parameter) for key, value in state.items()}


def _copied(where: str, value: Any, like: Any, parameter: Tensor) -> Any:
    if not isinstance(like, Tensor):
        check(type(value) is type(like), f"{where} is damaged: it must be {type(like).__name__}")
        return value
    dense = isinstance(value, Tensor) and value.layout is torch.strided and value.device.type != "meta"
    check(dense and value.is_floating_point(), f"{where} is damaged: it must be a tensor of real numbers")
    shape = parameter.shape if like.ndim else like.shape
    check(value.shape == shape, f"{where} is {list(value.shape)} and does not fit its shape {list(shape)}")
    if not like.ndim:
        check(0 < value.item() < LARGEST, f"{where} is damaged: it must count the updates")
        return value.detach().to(like.dtype, copy=True)
    copied = torch.empty_like(parameter, requires_grad=False).copy_(value.detach())
    check(bool(copied.isfinite().all()), f"{where} is damaged: it must be of finite numbers")
    return copied


def can_fuse(parameters: Iterable[Tensor]) -> bool:
    """Whether torch has a fused kernel (one pass over memory for an update) for these parameters."""
    return all(p.device.type in FUSED and p.is_floating_point() for p in parameters)


def _names(one: torch.optim.Optimizer) -> list[str]:
    return [name for group in one.param_groups for name in group["param_names"]]


def _named_state(one: torch.optim.Optimizer) -> Iterator[tuple[str, dict[str, Any]]]:
    states = one.state_dict()["state"]
    for index, name in enumerate(_names(one)):
        yield name, states.get(index, {})


def _slots(one: torch.optim.Optimizer) -> Iterator[tuple[str, dict[str, Any], Tensor]]:
    """Each parameter of a torch optimizer: its name, what is kept of one like it, and itself. What is kept is found by
    an update of a small parameter, so it is known of every torch optimizer."""
    for group in one.param_groups:
        small = nn.Parameter(torch.ones_like(group["params"][0].new_empty(2, 2)))
        small.grad = torch.ones_like(small)
        trial = copy(one)
        trial.state = defaultdict(dict)
        trial.param_groups = [{**group, "params": [small], "param_names": ["small"]}]
        trial.step()
        for name, parameter in zip(group["param_names"], group["params"], strict=True):
            yield name, trial.state[small], parameter


optimizers: Registry[Optimizer] = Registry("optimizer", Optimizer, __name__)
