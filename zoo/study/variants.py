"""The variants of a study, as its file lists them or as the product of a grid."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from zoo.command.overrides import key_of, merge, write_option
from zoo.config import refuse_unknown
from zoo.errors import UserError
from zoo.registry import did_you_mean
from zoo.schema import convert

RUNNER = ("study", "dry_run", "fail_fast", "resume", "out", "hydra", "match")
"""What an override of a study's job may not set: it belongs to the study as a whole."""


@dataclass(frozen=True)
class Variant:
    """One of the things compared: its overrides beside the study's fixed ones, and what they change in words."""

    name: str
    overrides: tuple[str, ...]
    says: str
    against: str | None = None
    """The variant that it is compared with; None: the reference, or in a chain the one before it."""


def read_variants(node: Mapping[str, Any], chain: bool) -> tuple[Variant, ...]:
    """The listed variants, or those of the grid; in a chain each with the overrides of those before it."""
    listed, grid = read_listed(node.get("variants"), "study.variants"), read_mapping(node.get("grid"), "study.grid")
    if bool(listed) == bool(grid):
        raise UserError("a study has either study.variants or study.grid, and at least one of either")
    found = _of_grid(grid) if grid else [_variant(one, f"study.variants[{i}]") for i, one in enumerate(listed)]
    names = [one.name for one in found]
    for name in names:
        if names.count(name) > 1:
            raise UserError(f"study.variants: two are called '{name}'")
    for one in found:
        if one.against is not None and (chain or one.against not in names or one.against == one.name):
            raise UserError(
                f"study.variants: '{one.name}' is compared with '{one.against}', which must be another variant of"
                f" a study that is no chain{did_you_mean(one.against, names)}"
            )
    if not chain:
        return tuple(found)
    laid: list[Variant] = []
    for one in found:
        before = laid[-1].overrides if laid else ()
        laid.append(Variant(one.name, tuple(merge(before, one.overrides)), one.says))
    return tuple(laid)


def _variant(value: Any, where: str) -> Variant:
    node = read_mapping(value, where)
    refuse_unknown(node, Variant.__dataclass_fields__, f"{where}.")
    name = convert(node.get("name"), str, f"{where}.name")
    if not name:
        raise UserError(f"{where}.name is empty")
    overrides = read_overrides(node.get("overrides", []), f"{where}.overrides")
    says = convert(node.get("says", ""), str, f"{where}.says")
    return Variant(name, overrides, says, convert(node.get("against"), str | None, f"{where}.against"))


def _of_grid(grid: Mapping[str, Any]) -> list[Variant]:
    """The product of the values of the grid's keys, each named by its values."""
    axes = [[(key, one) for one in read_listed(values, f"study.grid.{key}")] for key, values in grid.items()]
    if not all(axes):
        raise UserError("study.grid: a key has no values")
    found = []
    for chosen in product(*axes):
        overrides = tuple(write_option(key, value) for key, value in chosen)
        words = [f"{key.replace('/', '.').split('.')[-1]} {value}" for key, value in chosen]
        found.append(
            Variant(" ".join(str(v) for _, v in chosen), read_overrides(overrides, "study.grid"), ", ".join(words))
        )
    return found


def read_mapping(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise UserError(f"{where} must be a mapping, got {value!r}")
    return {str(key): one for key, one in value.items()}


def read_listed(value: Any, where: str) -> Sequence[Any]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise UserError(f"{where} must be a list, got {value!r}")
    return value


def read_overrides(value: Any, where: str) -> tuple[str, ...]:
    """A list of overrides, each of a key of its own."""
    overrides = convert(value, tuple[str, ...], where)
    for override in overrides:
        key = key_of(override)
        if key.split(".")[0].split("/")[0] in RUNNER or key == "seed":
            raise UserError(f"{where}: '{override}' belongs to the study as a whole; leave it out")
    if len(merge(overrides)) != len(overrides):
        raise UserError(f"{where} sets one key twice: {', '.join(overrides)}")
    return overrides
