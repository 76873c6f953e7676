"""The role each parameter plays. Initialisation, weight decay and Muon go by role, never by a parameter's name.

A part says a role where it makes the parameter: `Linear(a, b, role=Role.RESIDUAL)`, or, for a bare parameter,
`set_role(self, "decay_log", Role.OWN, fill=log_uniform)`. A parameter nobody spoke of is safe by default: vectors and
scalars are never decayed and keep the value their constructor gave them.
"""

from collections.abc import Callable
from enum import StrEnum

import torch
from torch import Tensor, nn

Fill = Callable[[Tensor, torch.Generator], None]
"""Overwrites a parameter in place with its own initial value, drawing only from the generator."""


class Role(StrEnum):
    """What a parameter is for."""

    EMBEDDING = "embedding"  # token table
    POSITION = "position"  # learned position table
    MATRIX = "matrix"  # a projection of no kind below
    QUERY = "query"  # a projection to queries
    KEY = "key"  # a projection to keys
    VALUE = "value"  # a projection to values
    GATE = "gate"  # a projection that multiplies another
    RESIDUAL = "residual"  # a projection that writes into the residual stream
    HEAD = "head"  # hidden states to logits
    ROUTER = "router"  # scores experts
    GAIN = "gain"  # multiplies a feature; starts at what its constructor gave
    BIAS = "bias"  # is added; starts at what its constructor gave
    OWN = "own"  # only its part knows how it starts (decay rates, time constants, filters)


MATRICES = frozenset({Role.MATRIX, Role.QUERY, Role.KEY, Role.VALUE, Role.GATE, Role.RESIDUAL})
"""Projections: those inside the layers, and that of a head before its table."""

TABLES = frozenset({Role.EMBEDDING, Role.POSITION, Role.HEAD})
"""What has a row for each token or place. The head is among them: tying it to the tokens changes nothing else."""


class Linear(nn.Linear):
    """y = x Wᵀ + b, with the role of W said where it is made. W is left unset until `zoo.init` fills it by role."""

    def __init__(self, inputs: int, outputs: int, *, bias: bool, role: Role = Role.MATRIX):
        super().__init__(inputs, outputs, bias=bias)
        set_role(self, "weight", role)
        if bias:
            set_role(self, "bias", Role.BIAS)

    def reset_parameters(self) -> None:
        """Nothing is drawn from the global generator; a bias starts at zero."""
        if self.bias is not None:
            nn.init.zeros_(self.bias)


def set_role(module: nn.Module, name: str, role: Role, fill: Fill | None = None) -> None:
    """Declare the role of `module.<name>`; OWN needs `fill`, which draws its initial value."""
    if (role is Role.OWN) != (fill is not None):
        raise TypeError(f"{type(module).__name__}.{name}: a fill goes with role OWN, and OWN with a fill")
    declared: dict[str, tuple[Role, Fill | None]] = module.__dict__.setdefault("_roles", {})
    declared[name] = (role, fill)


def scale_start(module: nn.Module, name: str, factor: float) -> None:
    """Multiply the initial value that an init draws for `module.<name>`: a part around it may ask for another size."""
    factors: dict[str, float] = module.__dict__.setdefault("_start_factors", {})
    factors[name] = factors.get(name, 1.0) * factor


def start_factor(module: nn.Module, name: str) -> float:
    """What `scale_start` said of the module's own parameter; 1 when nothing."""
    return float(module.__dict__.get("_start_factors", {}).get(name, 1.0))


def role_of(module: nn.Module, name: str, parameter: Tensor) -> tuple[Role, Fill | None]:
    """The declared role of a module's own parameter; undeclared vectors are gains. Raises TypeError for an undeclared
    matrix: its initial value and its decay would be guesses."""
    declared = module.__dict__.get("_roles", {})
    if name in declared:
        return declared[name]
    if parameter.ndim < 2:
        return (Role.BIAS if name == "bias" else Role.GAIN), None
    raise TypeError(f"{type(module).__name__}.{name} has shape {tuple(parameter.shape)} and no role: call set_role")


def roles(model: nn.Module) -> dict[str, tuple[Role, Fill | None]]:
    """Every parameter of the model, once (a tied one under its first name), with its role and own fill."""
    found: dict[str, tuple[Role, Fill | None]] = {}
    seen: set[int] = set()
    for prefix, module in model.named_modules():
        for name, parameter in module.named_parameters(recurse=False):
            if id(parameter) not in seen:
                seen.add(id(parameter))
                found[f"{prefix}.{name}".lstrip(".")] = role_of(module, name, parameter)
    return found
