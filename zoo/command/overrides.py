"""Lists of Hydra overrides as data: their keys, and how lists of them are put together."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException

from zoo.command.unread import fault
from zoo.errors import UserError


def parse_override(text: str) -> Override:
    """One override. Raises UserError when it is none."""
    try:
        return OverridesParser.create().parse_override(text)
    except HydraException as error:
        how = "a value is set by key=value"
        if "=" in text:
            how = fault(text) or "quote special characters, as in key='value'"
        raise UserError(f"'{text}' is no override: {how}") from error


@cache
def key_of(text: str) -> str:
    """What an override sets: the group with its package, or the key; without the + or ~ before it."""
    return str(parse_override(text).get_key_element()).lstrip("+~")


def of_the_job(key: str) -> bool:
    """Whether an override of that key says which job of its kind one is: its seed, and where it belongs."""
    return key == "seed" or key.startswith("hydra.")


def merge(*lists: Iterable[str]) -> list[str]:
    """All overrides in order; of two with the same key the later one stays, in the place of the first. Hydra refuses a
    group that is chosen twice, so this is how one list is laid over another."""
    found: dict[str, str] = {}
    for overrides in lists:
        for one in overrides:
            found[key_of(one)] = one
    return list(found.values())


def values_of(text: str) -> list[str]:
    """The override that a sweep over its values stands for, one per value: `seed=0,1` is `seed=0` and `seed=1`; one
    without a sweep is itself. Raises UserError for a sweep over an interval."""
    override = parse_override(text)
    if not override.is_sweep_override():
        return [text]
    if not override.is_discrete_sweep():
        raise UserError(f"'{text}' sweeps over an interval; list its values, as in seed=0,1 or seed=range(8)")
    return [f"{override.get_key_element()}={value}" for value in override.sweep_string_iterator()]


def seeds_of(overrides: Iterable[str]) -> list[int]:
    """The seeds of `seed=…`, one override for each. Raises UserError for what is no whole number."""
    found = []
    for one in overrides:
        try:
            found.append(int(one.partition("=")[2]))
        except ValueError:
            raise UserError(f"{one}: a seed is a whole number; several are listed as in seed=0,1") from None
    return found


def write_value(value: Any) -> str:
    """A plain value in the grammar of overrides."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case int() | float():
            return repr(value)
        case str():
            text = (
                value.replace("\\", "\\\\").replace("'", "\\'") if value.endswith("\\") else value.replace("'", "\\'")
            )
            return f"'{text}'"
        case Mapping():
            return "{" + ",".join(f"{key}:{write_value(one)}" for key, one in value.items()) + "}"
        case list() | tuple():
            return "[" + ",".join(map(write_value, value)) + "]"
    raise UserError(f"{value!r} cannot be written as an override")


def write_option(key: str, value: Any) -> str:
    """`key=value`, where a text is the bare name of an option of a group."""
    return f"{key}={value}" if isinstance(value, str) else f"{key}={write_value(value)}"
