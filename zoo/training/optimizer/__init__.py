"""How gradients become updates. Groups are made by the role of each parameter; clipping and averaging are shared."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.utils import clip_grads_with_norm_, get_total_norm

from zoo.errors import UserError
from zoo.registry import Registry
from zoo.training.average import Average
from zoo.training.parameters import bare

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
        """The state of each parameter by its name: plain dicts and tensors. Rates and groups come from the config, and
        the weight average is kept apart, in `average`."""
        return {name: state for one in self.inner for name, state in _named_state(one)}

    def load_state_dict(self, state: Mapping[str, Mapping[str, Any]]) -> None:
        """Continue from a saved `state_dict`. Raises UserError for parameters this optimizer does not have, or has in
        another shape."""
        unknown = sorted(state.keys() - self.parameters.keys())
        check(not unknown, f"the saved optimizer state belongs to another model; it has {', '.join(unknown)}")
        for one in self.inner:
            for name in _names(one):
                check_shapes(name, state.get(name, {}), self.parameters[name])
            saved = {i: dict(state[name]) for i, name in enumerate(_names(one)) if name in state}
            one.load_state_dict({"state": saved, "param_groups": one.state_dict()["param_groups"]})


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


def check_shapes(name: str, state: Mapping[str, Any], parameter: Tensor) -> None:
    """Refuse the saved state of a parameter that had another shape; a tensor of one number is a count."""
    for one in state.values():
        fits = not isinstance(one, Tensor) or one.numel() == 1 or one.shape == parameter.shape
        check(fits, f"the saved optimizer state of {name} does not fit its shape {list(parameter.shape)}")


def can_fuse(parameters: Iterable[Tensor]) -> bool:
    """Whether torch has a fused kernel (one pass over memory for an update) for these parameters."""
    return all(p.device.type in FUSED and p.is_floating_point() for p in parameters)


def _names(one: torch.optim.Optimizer) -> list[str]:
    return [name for group in one.param_groups for name in group["param_names"]]


def _named_state(one: torch.optim.Optimizer) -> Iterator[tuple[str, dict[str, Any]]]:
    names = _names(one)
    for index, state in one.state_dict()["state"].items():
        yield names[index], state


optimizers: Registry[Optimizer] = Registry("optimizer", Optimizer, __name__)
