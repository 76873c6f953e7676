"""The exponential moving average of a model's weights."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from zoo.errors import UserError
from zoo.training.weights import finite, same_kind


class Average:
    """e₁ = w₁;  e_t = d · e_{t−1} + (1 − d) · w_t, after each update t; d is the decay.

    paper: Polyak & Juditsky 1992; for neural networks Izmailov et al. 2018, arXiv:1803.05407
    differs: it starts at the weights after the first update, so no share of it is the untrained model.
    """

    def __init__(self, parameters: Mapping[str, nn.Parameter], decay: float):
        self.parameters = dict(parameters)
        self.decay = decay
        self.weights: dict[str, Tensor] = {}

    @torch.no_grad()
    def update(self) -> None:
        """Take in the present weights; call once after each optimizer step."""
        if not self.weights:
            self.weights = {name: parameter.detach().clone() for name, parameter in self.parameters.items()}
        else:
            present = [parameter.detach() for parameter in self.parameters.values()]
            torch._foreach_lerp_(list(self.weights.values()), present, 1 - self.decay)

    def load(self, weights: Mapping[str, Tensor]) -> None:
        """Continue from saved averages; {} is the state before the first update."""
        if weights and weights.keys() != self.parameters.keys():
            names = ", ".join(sorted(weights.keys() ^ self.parameters.keys()))
            raise UserError(f"the saved weight average belongs to another model; only one of the two has: {names}")
        like = self.parameters
        for name, weight in weights.items():
            if weight.shape != like[name].shape:
                raise UserError(f"the saved average of {name} is {list(weight.shape)}, not {list(like[name].shape)}")
            if not same_kind(weight, like[name]) or not finite(weight, like[name]):
                raise UserError(f"the saved average of {name} is damaged: it must be of finite real numbers")
        self.weights = {name: weights[name].detach().to(like[name], copy=True) for name in like if weights}

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Within the block the model has the averaged weights; afterwards its own come back, bit for bit."""
        own = {name: parameter.detach().clone() for name, parameter in self.parameters.items()}
        try:
            self._fill(self.weights)
            yield
        finally:
            self._fill(own)

    @torch.no_grad()
    def _fill(self, weights: Mapping[str, Tensor]) -> None:
        for name, weight in weights.items():
            self.parameters[name].copy_(weight)
