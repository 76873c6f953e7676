"""How parameters start: by role, each from a generator of its own.

The generator of a parameter is keyed by (seed, the parameter's name), so two models start identical wherever they share
a part, whatever else differs between them. Draws are made on the CPU in float32 and then copied.
"""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable

import torch
from torch import Tensor, nn

from zoo.registry import Registry
from zoo.roles import Role, roles


class Init(ABC):
    """Contract: fills the matrices, by role. Gains and biases keep what their constructor gave, and a parameter of role
    OWN is filled by its part: no init can overwrite it."""

    @abstractmethod
    def fill(self, weight: Tensor, role: Role, n_layers: int, generator: torch.Generator) -> None:
        """Overwrite a matrix (outputs, inputs), or a table (rows, width), in place. `n_layers` is the depth of the
        stack that it is in."""


inits: Registry[Init] = Registry("init", Init, __name__)

LEFT_ALONE = frozenset({Role.GAIN, Role.BIAS})


def generator_for(seed: int, *keys: str | int) -> torch.Generator:
    """The stream of that seed and those keys; streams of different keys are independent."""
    digest = hashlib.sha256("\0".join([str(seed), *map(str, keys)]).encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:8], "little") >> 1)


@torch.no_grad()
def initialise(model: nn.Module, init: Init, seed: int, depth: Callable[[str], int]) -> None:
    """Fill every parameter of the model once; `depth(name)` is the number of layers of the stack a parameter is in."""
    parameters = dict(model.named_parameters())
    for name, (role, fill) in roles(model).items():
        if role in LEFT_ALONE:
            continue
        values = torch.empty(parameters[name].shape)
        generator = generator_for(seed, name)
        if fill is not None:
            fill(values, generator)
        else:
            init.fill(values, role, depth(name), generator)
        parameters[name].copy_(values)
