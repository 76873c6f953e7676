"""One whole number of a model is solved for, so that one of its costs is that of a reference."""

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import torch

from zoo.accounting import costs
from zoo.assembly import assemble
from zoo.config import parse_model
from zoo.errors import UserError
from zoo.knob import Knob
from zoo.option import Choice
from zoo.registry import FAMILIES
from zoo.schema import fields

TARGETS = {
    "params": "parameters",
    "active_params": "active_parameters",
    "flops": "flops_per_token",
    "state": "state_elements",
}
"""What can be matched, and how `zoo.accounting.Costs` calls it."""

LARGEST = 1 << 20
"""No width above this is tried."""

Sizes = dict[str, float]


@dataclass(frozen=True)
class Solved:
    """How far the target came."""

    key: str
    value: int
    got: Sizes
    residual: float
    """got / wanted − 1"""


def sizes_of(model: Mapping[str, Any], vocabulary: int, context: int) -> Sizes:
    """All that can be matched of the model of that node, counted without memory for its weights. Raises UserError when
    its parts do not fit."""
    with torch.device("meta"):
        counted = costs(assemble(parse_model(model), vocabulary), context)
    return {target: float(getattr(counted, name)) for target, name in TARGETS.items()}


def knobs_of(model: Mapping[str, Any]) -> Iterator[tuple[list[str], Knob, int]]:
    """The numbers to solve for, in the order in which they are tried: the hidden width of the ffn, the width of the
    model, key–value heads, experts. Each with the keys that it sets and the step it goes in: what its parts declare,
    the first one of every ffn before the others."""
    parsed = parse_model(model)
    declared = [_declared("ffn", parsed.ffn, model), _declared("mixer", parsed.mixer, model)]
    firsts, rest = declared[0][:1], declared[1] + declared[0][1:]
    yield from firsts
    yield ["d_model"], Knob("d_model"), 2 * parsed.n_heads  # a head of even width can be rotated
    yield from rest


def _declared(axis: str, choice: Choice, model: Mapping[str, Any]) -> list[tuple[list[str], Knob, int]]:
    """What the options of an axis declare; a knob of several options of a pattern is set in all of them."""
    pattern = model[axis].get("name") == "pattern"
    found: dict[Knob, list[str]] = {}
    for key, option in choice.distinct.items():
        cls = FAMILIES[axis].get(option.name)
        for knob in cls.knobs:
            if knob.key.partition(".")[0] in fields(cls):  # a plugin may inherit a knob without its key
                found.setdefault(knob, []).append(f"{axis}.{key}.{knob.key}" if pattern else f"{axis}.{knob.key}")
    return [(keys, knob, 1) for knob, keys in found.items()]


def solve(
    model: Mapping[str, Any],
    target: str,
    wanted: float,
    measure: Callable[[Mapping[str, Any]], Sizes],
    tolerance: float,
) -> tuple[dict[str, Any], Solved | None, str | None]:
    """The model's node with one number set so that its `target` is as near to `wanted` as it can be; what was solved,
    None when it was as near already; and why it is farther off than the tolerance, None when it is not.

    The first knob that comes within the tolerance is taken, else the one that comes nearest.
    """
    here = measure(model)[target]
    own = abs(here / wanted - 1)
    best: Solved | None = None
    reasons = []
    for keys, knob, step in knobs_of(model):
        found = _turn(model, keys, knob, step, target, wanted, measure)
        name = f"model.{keys[0]}"
        if found is None:
            reasons.append(f"{name} does not change it")
            continue
        reasons.append(f"{name}={found.value} comes nearest, {found.residual:+.2%}")
        if best is None or abs(found.residual) < abs(best.residual):
            best, best_keys = found, keys
        if abs(found.residual) <= tolerance:
            break
    if best is None or own <= abs(best.residual):
        best = None
    residual = own if best is None else abs(best.residual)
    node = dict(model) if best is None else with_value(model, best_keys, best.value)
    return node, best, None if residual <= tolerance else f"no whole number is near enough: {'; '.join(reasons)}"


def with_value(model: Mapping[str, Any], keys: list[str], value: int) -> dict[str, Any]:
    """The node with the value at each of these dotted keys."""
    node = deepcopy(dict(model))
    for key in keys:
        *path, last = key.split(".")
        inner = node
        for name in path:
            inner = inner[name]
        inner[last] = value
    return node


def _turn(
    model: Mapping[str, Any],
    keys: list[str],
    knob: Knob,
    step: int,
    target: str,
    wanted: float,
    measure: Callable[[Mapping[str, Any]], Sizes],
) -> Solved | None:
    """The value of one knob at which the target is nearest to what is wanted; None when it does not change it."""

    def at(value: int) -> Sizes | None:
        try:
            return measure(with_value(model, keys, value))
        except UserError:
            return None

    heads = int(model["n_heads"])
    if knob.divides_heads:
        tried = {value: at(value) for value in range(1, heads + 1) if heads % value == 0}
    else:
        tried = _bisect(at, step, target, wanted)
    sizes = {value: one for value, one in tried.items() if one is not None}
    if len({one[target] for one in sizes.values()}) < 2:
        return None
    value = min(sizes, key=lambda one: (abs(sizes[one][target] - wanted), one))
    return Solved(f"model.{keys[0]}", value, sizes[value], sizes[value][target] / wanted - 1)


def _bisect(at: Callable[[int], Sizes | None], step: int, target: str, wanted: float) -> dict[int, Sizes | None]:
    """The sizes on both sides of what is wanted, and others; sizes grow with the value."""
    tried: dict[int, Sizes | None] = {}

    def below(value: int) -> bool:
        tried[value] = at(value)
        found = tried[value]
        return found is not None and found[target] < wanted

    low = next((value for value in range(step, 65 * step, step) if at(value) is not None), step)
    high = 2 * low
    if not below(low):
        tried[high] = at(high)
        return tried
    while below(high):
        first, now = tried[low], tried[high]
        if high > LARGEST or first is None or now is None or first[target] == now[target]:
            return tried
        low, high = high, 2 * high
    while high - low > step:
        middle = (low + high) // 2 // step * step
        low, high = (middle, high) if below(middle) else (low, middle)
    return tried
