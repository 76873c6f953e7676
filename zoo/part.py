"""What a part of a model is, and what it costs."""

from collections.abc import Mapping
from typing import Any, ClassVar

from torch import nn

from zoo.common import Common
from zoo.knob import Knob


class Part(nn.Module):
    """Contract of every part: constructed as `Part(common, *supplied, **options)`, positional arguments from the model,
    keyword-only ones from YAML; it draws no random number when it is built, and counts what it costs."""

    knobs: ClassVar[tuple[Knob, ...]] = ()
    """What `match=` may turn to make a model as large as another; the first one first."""

    compiles: ClassVar[bool] = True
    """Whether `runtime=auto` may have it compiled; false where shapes depend on what the tokens are, whose code is many
    times as long."""

    @classmethod
    def unset(cls, common: Common, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """What a null says, by key, beside these values: one that is given and says the same makes no other run."""
        return {}

    def flops(self, queries: int, keys: int) -> int:
        """Forward floating-point operations for one row of `queries` positions that meet `keys` positions, counting a
        multiply–add of a matrix product as 2 and everything else as 0. The sum over the parts inside, unless a part
        does products of its own; the whole T·S square counts, masked or not."""
        return sum(flops_of(child, queries, keys) for child in self.children())

    def idle_parameters(self) -> int:
        """Parameters that one token does not use: those of the experts it is not routed to."""
        return sum(idle_parameters_of(child) for child in self.children())


def flops_of(module: nn.Module, queries: int, keys: int) -> int:
    """`Part.flops` of any module: a part says it itself, a linear layer is its product, a container is its content."""
    if isinstance(module, Part):
        return module.flops(queries, keys)
    if isinstance(module, nn.Linear):
        return 2 * queries * module.in_features * module.out_features
    return sum(flops_of(child, queries, keys) for child in module.children())


def idle_parameters_of(module: nn.Module) -> int:
    """`Part.idle_parameters` of any module."""
    if isinstance(module, Part):
        return module.idle_parameters()
    return sum(idle_parameters_of(child) for child in module.children())
