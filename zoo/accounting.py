"""What a model costs, computed from its parts."""

from dataclasses import asdict, dataclass
from typing import Any

from zoo.common import idle_parameters_of
from zoo.model import Model
from zoo.roles import TABLES, roles


@dataclass(frozen=True)
class Costs:
    """Sizes of one model at one length of text."""

    parameters: int
    """Each once, tied tables too."""
    embedding_parameters: int
    """In token and position tables, and a head of its own."""
    active_parameters: int
    """Used by one token: without the experts it is not routed to."""
    context: int
    """The length in positions that the following are for; a source has the same length."""
    flops_per_token: float
    """Forward, per target position; a training step costs about three times as much."""
    state_elements: int
    """Numbers kept per row when generating."""

    def as_dict(self) -> dict[str, Any]:
        """For a record."""
        return asdict(self)


def costs(model: Model, context: int) -> Costs:
    """The costs of the model at that context length. It may be on the meta device."""
    found = roles(model)
    sizes = {name: parameter.numel() for name, parameter in model.named_parameters()}
    total = sum(sizes.values())
    return Costs(
        parameters=total,
        embedding_parameters=sum(size for name, size in sizes.items() if found[name][0] in TABLES),
        active_parameters=total - idle_parameters_of(model),
        context=context,
        flops_per_token=model.flops(context) / context,
        state_elements=model.state_elements(context),
    )
