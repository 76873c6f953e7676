"""Dropout whose luck is its own."""

from collections.abc import Mapping

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from zoo.luck import derived_seed, seed_torch


class Dropout(nn.Module):
    """x · m / (1 − rate), m ~ Bernoulli(1 − rate) per element, while training; else x.

    Each one draws from a stream of its own, keyed by where it stands in the model: a part that is swapped, or that
    draws more or fewer numbers, moves no other part's masks. Compiled code has one stream for all, which is
    torch's: `runtime=auto` compiles no model that drops.

    paper: Srivastava et al. 2014, "Dropout: a simple way to prevent neural networks from overfitting"
    differs: nothing.
    """

    def __init__(self, rate: float):
        super().__init__()
        self.rate = rate
        self.seed: int | None = None

    @property
    def active(self) -> float:
        """The rate that acts now: 0 when not training."""
        return self.rate if self.training else 0.0

    def begin(self, device: torch.device) -> None:
        """Go to the start of the stream; called just before the numbers are drawn, on that device."""
        if self.seed is not None and self.active and not torch.compiler.is_compiling():
            seed_torch(self.seed, device)

    def continued(self) -> "Dropout":
        """The same for a further part of one call: its numbers follow those that were drawn last."""
        further = Dropout(self.rate)
        return further.train(self.training)

    def forward(self, x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        if not self.active:
            return x
        self.begin(x.device)
        return F.dropout(x, self.rate, training=True)


def dropouts_of(model: nn.Module) -> dict[str, Dropout]:
    """Those that drop anything while training, by where they stand in the model."""
    return {name: one for name, one in model.named_modules() if isinstance(one, Dropout) and one.rate}


def seed_dropout(dropouts: Mapping[str, Dropout], device: torch.device, *key: int | str) -> None:
    """Give each of them its stream for one forward pass, and torch's own stream of the device one for the rest."""
    seed_torch(derived_seed("dropout", *key), device)
    for name, one in dropouts.items():
        one.seed = derived_seed("dropout", *key, name)
