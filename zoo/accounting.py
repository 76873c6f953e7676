"""What a model costs, computed from its parts."""

from dataclasses import asdict, dataclass
from typing import Any

from zoo.model import Model
from zoo.part import idle_parameters_of
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
    """Positions of the row that the following are for: half of them are a source, where the model reads one."""
    flops_per_token: float
    """Forward, per position of that row; a training step costs about three times as much."""
    state_elements: int
    """Numbers kept when that row is generated."""

    def as_dict(self) -> dict[str, Any]:
        """For a record."""
        return asdict(self)


def lengths(model: Model, context: int) -> tuple[int, int]:
    """Target and source positions of a row of `context` positions. A model that reads source and target in one row
    and one that reads them in two stacks so have the same text before them."""
    source = context // 2 if model.topology.traits.reads_source else 0
    return context - source, source


def costs(model: Model, context: int) -> Costs:
    """The costs of the model at that context length. It may be on the meta device."""
    found = roles(model)
    sizes = {name: parameter.numel() for name, parameter in model.named_parameters()}
    total = sum(sizes.values())
    target, source = lengths(model, context)
    return Costs(
        parameters=total,
        embedding_parameters=sum(size for name, size in sizes.items() if found[name][0] in TABLES),
        active_parameters=total - idle_parameters_of(model),
        context=context,
        flops_per_token=model.flops(target, source) / context,
        state_elements=model.state_elements(target, source),
    )
