"""A part of a plugin that lets the future in. The model that has it would see what it has to predict, and win every
comparison, so it is not trained."""

from typing import Any

import torch
from torch import Tensor, nn

from zoo.code import of_zoo
from zoo.errors import UserError
from zoo.model import Model
from zoo.part import Part
from zoo.registry import FAMILIES

TOLERANCE = 1e-4
"""Of the largest number: a hundred times what rounding does."""


@torch.no_grad()
def refuse_leaks(model: Model, length: int) -> None:
    """Raise UserError that names the part when a model that reads left to right has one of a plugin's, and it, or the
    model, says another thing in the first half of a row of that length when tokens of the second are changed. What
    leaks only in training, or only once weights that begin as zeros inside the part have grown, is not seen. The zoo's
    own parts are tested. Draws no number that training would."""
    parts = [one for one in model.modules() if isinstance(one, Part) and not of_zoo(type(one))]
    if not parts or not model.topology.traits.generates or length < 2 or model.vocabulary == 1:
        return
    seen = length // 2
    tokens = ((torch.arange(length) * 7919 + 1) % model.vocabulary).repeat(3, 1)
    tokens[2, seen:] = (tokens[2, seen:] + 1) % model.vocabulary
    source = tokens[:1].flip(1).repeat(3, 1) if model.topology.traits.reads_source else None
    leaking: list[type] = []

    def watch(module: nn.Module, given: Any, found: Any) -> None:
        out = found[0] if isinstance(found, tuple) else found
        if isinstance(out, Tensor) and out.ndim == 3 and out.shape[:2] == tokens.shape and _leaks(out, seen):
            leaking.append(type(module))

    handles, training = [one.register_forward_hook(watch) for one in parts], model.training
    model.eval()
    try:
        with torch.random.fork_rng(devices=[]):
            hidden = model.read(tokens, source=source)[0]
    finally:
        model.train(training)
        for one in handles:
            one.remove()
    if leaking or _leaks(hidden, seen):
        named = leaking[:1] or dict.fromkeys(map(type, parts))
        raise UserError(
            f"{' or '.join(map(_name, named))} lets the future in: what the model says at a position changes with later"
            " tokens, which it has to predict; hide them in that part, or choose a model/topology that sees both sides"
        )


def _leaks(out: Tensor, seen: int) -> bool:
    """Whether the third row differs from the first where their tokens do not; the second, which is the first again,
    tells a part that only draws numbers."""
    first, again, changed = out[:, :seen].float()
    bound = TOLERANCE * float(first.abs().max())
    return float((first - changed).abs().max()) > bound >= float((first - again).abs().max())


def _name(part: type) -> str:
    """How a config and its file call it."""
    found = (f"{family} '{name}'" for family, registry in FAMILIES.items() for name in registry.names_of(part))
    return f"{next(found, part.__qualname__)} (of {part.__module__})"
