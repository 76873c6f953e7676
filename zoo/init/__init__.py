"""How parameters start: by role, each from a generator of its own.

The generator of a parameter is keyed by (seed, the parameter's name), so two models start identical wherever they share
a part, whatever else differs between them. Draws are made on the CPU in float32 and then copied.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable

import torch
from torch import Tensor, nn

from zoo.luck import generator_for
from zoo.registry import Registry
from zoo.roles import Role, roles, start_factor


class Init(ABC):
    """Contract: fills the matrices, by role. Gains and biases keep what their constructor gave, and a parameter of role
    OWN is filled by its part: no init can overwrite it."""

    @abstractmethod
    def fill(self, weight: Tensor, role: Role, residuals: int, generator: torch.Generator) -> None:
        """Overwrite a matrix (outputs, inputs), or a table (rows, width), in place. `residuals` is how often the stack
        that it is in writes into its residual stream: twice a layer, three times with a cross-mixer."""


inits: Registry[Init] = Registry("init", Init, __name__)

LEFT_ALONE = frozenset({Role.GAIN, Role.BIAS})


@torch.no_grad()
def initialise(model: nn.Module, init: Init, seed: int, residuals: Callable[[str], int]) -> None:
    """Fill every parameter of the model once; `residuals(name)` is how often the stack of a parameter writes into its
    residual stream."""
    parameters = dict(model.named_parameters())
    for name, (role, fill) in roles(model).items():
        if role in LEFT_ALONE:
            continue
        values = torch.empty(parameters[name].shape)
        generator = generator_for("init", seed, name)
        if fill is not None:
            fill(values, generator)
        else:
            init.fill(values, role, residuals(name), generator)
            owner, _, own = name.rpartition(".")
            values *= start_factor(model.get_submodule(owner), own)
        parameters[name].copy_(values)
