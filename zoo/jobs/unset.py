"""Values that say what leaving them out says: the head width that d_model and n_heads give, the model's own dropout.
The model is the same, so it is one run, and known as it is where they are left out. A plugin's part is known as it is
written, unless its own class says `unset`: what it inherits need not hold of it."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from zoo.assembly import common_of
from zoo.code import of_zoo, says
from zoo.common import Common
from zoo.experiment import ModelConfig
from zoo.families import AXES
from zoo.option import Choice, Option, Pattern
from zoo.part import Part
from zoo.registry import FAMILIES
from zoo.schema import defaults, family_of, fields


def as_unset(model: ModelConfig) -> ModelConfig:
    """The same model without such values."""
    commons = _commons(model)
    chosen: dict[str, Any] = {axis: _choice(getattr(model, axis), axis, commons) for axis in AXES}
    cross = None if model.cross is None else _choice(model.cross, "mixer", commons)
    return replace(model, **chosen, cross=None if cross == _across(chosen["mixer"]) else cross)


def _commons(model: ModelConfig) -> list[Common]:
    """What the parts of a stack share, for each way in which a stack of the topology sees. That of a plugin may have
    stacks of both."""
    cls = FAMILIES["topology"].get(model.topology.name)
    source = [False] if cls.traits.reads_source else []
    ways = [cls.traits.generates, *source] if of_zoo(cls) else [True, False]
    return [common_of(model, layer=0, depth=model.n_layers, causal=causal) for causal in ways]


def _choice(choice: Choice, family: str, commons: list[Common]) -> Choice:
    if isinstance(choice, Pattern):
        options = {key: _option(one, family, commons) for key, one in choice.distinct.items()}
        return Pattern(choice.layers, MappingProxyType(options))
    return _option(choice, family, commons)


def _option(option: Option, family: str, commons: list[Common]) -> Option:
    cls = FAMILIES[family].get(option.name)
    if not issubclass(cls, Part) or not says(cls, "unset"):
        return option
    values = {**defaults(cls), **option.values}
    with option.placing():
        meanings = [cls.unset(common, values) for common in commons]
    found = {}
    for key, value in option.values.items():
        if isinstance(value, Option) and of_zoo(cls):  # a plugin may have made it of other sizes
            value = _option(value, family_of(fields(cls)[key], family), commons)
        same = value is not None and all(key in one and one[key] == value for one in meanings)
        found[key] = None if same else value
    return replace(option, values=MappingProxyType(found))


def _across(choice: Choice) -> Choice:
    """The cross-mixer that there is when none is chosen: like the mixer, but for what does nothing across."""
    options = {}
    for key, option in choice.distinct.items():
        cls = FAMILIES["mixer"].get(option.name)
        keys = cls.idle_across & option.values.keys() if says(cls, "idle_across") else ()
        idle: Mapping[str, Any] = dict.fromkeys(keys)
        options[key] = replace(option, values=MappingProxyType({**option.values, **idle}))
    return Pattern(choice.layers, MappingProxyType(options)) if isinstance(choice, Pattern) else options[choice.name]
