"""The signature is the schema: plain YAML values in, values typed by the keyword-only half of a constructor out."""

import inspect
import math
import sys
import types
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NoReturn, Union, get_args, get_origin, get_type_hints

from zoo.errors import UserError
from zoo.families import choosing
from zoo.option import Choice, Option, Pattern
from zoo.registry import FAMILIES, did_you_mean


def fields(cls: type) -> dict[str, inspect.Parameter]:
    """What YAML may set: the keyword-only parameters of the constructor."""
    parameters = inspect.signature(cls).parameters.values()
    return {p.name: p for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}


def defaults(cls: type) -> dict[str, Any]:
    """The values of those keys that have a default in the signature."""
    return {key: one.default for key, one in fields(cls).items() if one.default is not inspect.Parameter.empty}


def family_of(parameter: inspect.Parameter, family: str) -> str:
    """The family that `Annotated[Option, family]` says; for all else it does not matter."""
    return next(iter(getattr(parameter.annotation, "__metadata__", ())), family)


def parse_choice(family: str, node: Any, where: str) -> Choice:
    """A config node to an Option, or to a Pattern when it has `layers`."""
    if isinstance(node, Mapping) and node.get("name") == "pattern":
        return _parse_pattern(family, node, where)
    return parse_option(family, node, where)


def parse_option(family: str, node: Any, where: str) -> Option:
    """A config node `{name: ..., key: value, ...}` to an Option of the family; unknown, missing and mistyped keys
    are refused with the place of the error."""
    if not isinstance(node, Mapping) or not isinstance(node.get("name"), str):
        article = "an" if family[0] in "aeiou" else "a"
        raise UserError(f"{where} must be {article} {family}, chosen with {choosing(where)}=…; got {node!r}")
    cls = FAMILIES[family].get(node["name"])
    values = {key: value for key, value in node.items() if key != "name"}
    given = typed(cls, values, where, f"{family} '{node['name']}'")
    return Option(node["name"], types.MappingProxyType(given), where)


def typed(cls: type, values: Mapping[str, Any], where: str, what: str) -> dict[str, Any]:
    """`values` checked against the keyword-only parameters of `cls`, and converted to their types."""
    known = fields(cls)
    for key in values:
        if key not in known:
            accepts = ", ".join(known) or "none"
            raise UserError(f"{where}.{key}: {what} has no '{key}'{did_you_mean(key, known)}; its keys: {accepts}")
    missing = [key for key, p in known.items() if p.default is inspect.Parameter.empty and key not in values]
    if missing:
        raise UserError(f"{where}: {what} needs {', '.join(missing)}")
    hints = get_type_hints(cls if _is_dataclass(cls) else cls.__init__, include_extras=True)  # type: ignore[misc]
    return {key: convert(value, hints[key], f"{where}.{key}") for key, value in values.items()}


def convert(value: Any, annotation: Any, where: str) -> Any:
    """The value as the annotated type. A text is never read as a number, nor a number as a truth value."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        return _convert_union(value, arguments, where)
    if origin is Annotated:
        return parse_option(arguments[1], value, where)
    if origin is Literal:
        if value not in arguments or isinstance(value, bool) != isinstance(arguments[0], bool):
            _refuse_choice(value, _choices(annotation), where)
        return value
    if origin is tuple:
        return _convert_tuple(value, arguments, where)
    if annotation is float and type(value) in (int, float):
        return _finite(value, where)
    if annotation in (int, float, bool, str) and type(value) is annotation:
        if annotation is int and not -(1 << 63) <= value < 1 << 63:
            raise UserError(f"{where} must fit into 64 bits, got one of {value.bit_length()} bits")
        return value
    raise UserError(f"{where} must be {_words(annotation)}, got {value!r} ({type(value).__name__})")


def positive(where: str, **values: int | None) -> None:
    """Raise UserError for the first value below 1."""
    for key, value in values.items():
        if value is not None and value < 1:
            raise UserError(f"{where}.{key}={value} must be at least 1".lstrip("."))


def _finite(value: int | float, where: str) -> float:
    """A float64 number, of the two zeros the positive one. For no key is inf or nan a choice: where there need be no
    limit, null says so."""
    number = float(value) if abs(value) <= sys.float_info.max else math.inf
    if not math.isfinite(number):
        raise UserError(f"{where}={value} must be a finite number")
    return number + 0.0


def _convert_union(value: Any, arguments: tuple[Any, ...], where: str) -> Any:
    if value is None and type(None) in arguments:
        return None
    others = [one for one in arguments if one is not type(None)]
    if int in others and float in others and type(value) is float and value.is_integer():
        value = int(value)  # 0 and 0.0 are one number, so that they are one run
    for one in others[:-1]:
        try:
            return convert(value, one, where)
        except UserError:
            continue
    try:
        return convert(value, others[-1], where)
    except UserError:
        if not all(map(_choices, others)):
            raise
    _refuse_choice(value, [choice for one in others for choice in _choices(one)], where)


def _choices(annotation: Any) -> list[str]:
    """The values that a truth value or a literal can have; none of other types, which have too many."""
    if annotation is bool:
        return ["true", "false"]
    return [str(one) for one in get_args(annotation)] if get_origin(annotation) is Literal else []


def _refuse_choice(value: Any, choices: Sequence[str], where: str) -> NoReturn:
    raise UserError(f"{where}={value!r}{did_you_mean(str(value), choices)}; choose from {', '.join(choices)}")


def _convert_tuple(value: Any, arguments: tuple[Any, ...], where: str) -> tuple[Any, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise UserError(f"{where} must be a list, as in {where}=[a,b]; got {value!r}")
    if arguments[-1] is Ellipsis:
        arguments = (arguments[0],) * len(value)
    if len(value) != len(arguments):
        raise UserError(f"{where} must have {len(arguments)} entries, got {len(value)}: {list(value)!r}")
    return tuple(
        convert(one, kind, f"{where}[{i}]") for i, (one, kind) in enumerate(zip(value, arguments, strict=True))
    )


def _parse_pattern(family: str, node: Mapping[str, Any], where: str) -> Pattern:
    layers = _convert_tuple(node.get("layers"), (str, ...), f"{where}.layers")
    options = {
        key: parse_option(family, value, f"{where}.{key}")
        for key, value in node.items()
        if key not in ("name", "layers")
    }
    if not layers:
        raise UserError(f"{where}.layers is empty; list one of {', '.join(options)} per layer")
    for layer in layers:
        if layer not in options:
            raise UserError(
                f"{where}.layers names '{layer}'{did_you_mean(layer, options)}; choose from {', '.join(options)}"
            )
    idle = [key for key in options if key not in layers]
    if idle:
        raise UserError(f"{where}.{idle[0]} is in no layer of {where}.layers={list(layers)}; use it or remove it")
    return Pattern(layers, types.MappingProxyType(options))


def _is_dataclass(cls: type) -> bool:
    return hasattr(cls, "__dataclass_fields__")


def _words(annotation: Any) -> str:
    names = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
    return names.get(annotation, str(annotation))
