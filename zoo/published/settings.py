"""What a config.json and a model node of ours say of each other: one template, read in both directions.

A template has the shape of our node. Its leaves are constants, which ours must equal, or say where a value stands in
config.json: substitute them to import; read ours through them to export.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from zoo.errors import UserError
from zoo.registry import did_you_mean

REQUIRED = object()
"""A key without a default."""
Config = dict[str, Any]
Template = Any
"""A mapping of templates, one of the classes below, or a constant."""


@dataclass(frozen=True)
class Key:
    """A value of config.json; dots lead into mappings.

    older: other names under which it is read, never written; where several are set they must agree
    also: names that are written too, and must agree; one that is missing means the default
    default: what a config without it means, the same as in transformers; null stands for what our part makes of null,
        and only then may a config say null
    values: what theirs are called here, where the words differ
    """

    name: str
    older: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    default: Any = REQUIRED
    values: Mapping[Any, Any] | None = None

    def read(self, config: Mapping[str, Any]) -> Any:
        """Our value. Raises UserError where it is missing, unknown or contradicts itself."""
        found = [(name, _at(config, name)) for name in (self.name, *self.older, *self.also)]
        found = [one for one in found if one[1] is not REQUIRED and not (one[1] is None and one[0] in self.older)]
        if not found and self.default is REQUIRED:
            raise UserError(f"config.json has no {self.name}")
        name, value = found[0] if found else (self.name, self.default)
        for other, second in found[1:]:
            if second != value:
                raise UserError(f"config.json has {name}={value!r} but {other}={second!r}; here they are one setting")
        for other in self.also:
            if self.default not in (REQUIRED, value) and _at(config, other) is REQUIRED:
                raise UserError(
                    f"config.json has {name}={value!r} but no {other}, which then means {self.default!r}; here they are"
                    " one setting"
                )
        if value is None and self.default is not None:
            raise UserError(f"config.json has {name}=null, which says nothing; give it a value")
        if self.values is None:
            return value
        for theirs, ours in self.values.items():
            if theirs == value and isinstance(theirs, bool) == isinstance(value, bool):
                return ours
        choices = ", ".join(map(str, self.values))
        raise UserError(
            f"config.json has {name}={value!r}{did_you_mean(str(value), map(str, self.values))}; what there is a"
            f" counterpart for: {choices}"
        )

    def write(self, ours: Any, config: Config) -> None:
        """Put our value there; where theirs has no word for it, nothing, and the comparison will tell."""
        theirs = ours if self.values is None else {v: k for k, v in self.values.items()}.get(ours)
        if theirs is not None:
            for name in (self.name, *self.also):
                _put(config, name, theirs)


@dataclass(frozen=True)
class Free:
    """What does not change what a trained model computes, and is not carried over: imports get `value`."""

    value: Any


@dataclass(frozen=True)
class OneOf:
    """A part that is chosen by a value of config.json: {their word: template}."""

    key: Key
    cases: Mapping[str, Template] = field(hash=False)

    def chosen(self, config: Mapping[str, Any]) -> Template:
        """The template that a config asks for."""
        return self.cases[replace(self.key, values={word: word for word in self.cases}).read(config)]


def to_ours(template: Template, config: Mapping[str, Any], *, partial: bool = False) -> Any:
    """Our node of a config.json. Raises UserError for what is missing or has no counterpart; with `partial` that is
    null."""
    match template:
        case Key():
            try:
                return template.read(config)
            except UserError:
                if partial:
                    return None
                raise
        case Free(value):
            return value
        case OneOf():
            return to_ours(template.chosen(config), config, partial=partial)
        case Mapping():
            return {key: to_ours(one, config, partial=partial) for key, one in template.items()}
    return template


def to_theirs(template: Template, ours: Any, config: Config) -> None:
    """Write what our node says into a config.json; what it cannot say is left out."""
    match template:
        case Key():
            template.write(ours, config)
        case OneOf(key, cases):
            named = ours.get("name") if isinstance(ours, Mapping) else None
            word = next((word for word, case in cases.items() if case["name"] == named), next(iter(cases)))
            _put(config, key.name, word)
            to_theirs(cases[word], ours, config)
        case Mapping() if isinstance(ours, Mapping):
            for key, one in template.items():
                to_theirs(one, ours.get(key), config)


def free(template: Template, path: str = "") -> Iterator[str]:
    """The paths of all that is not carried over."""
    match template:
        case Free():
            yield path
        case OneOf(_, cases):
            for case in cases.values():
                yield from free(case, path)
        case Mapping():
            for key, one in template.items():
                yield from free(one, f"{path}.{key}".lstrip("."))


def keys_of(template: Template) -> Iterator[str]:
    """The keys of config.json that the template reads, with dots."""
    match template:
        case Key(name, older, also):
            yield from (name, *older, *also)
        case OneOf(key, cases):
            yield from keys_of(key)
            for case in cases.values():
                yield from keys_of(case)
        case Mapping():
            for one in template.values():
                yield from keys_of(one)


def differences(ours: Any, back: Any, ignored: frozenset[str], path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """(path, our value, what came back) of what is lost on the way; of another part, its name alone."""
    if path in ignored:
        return
    if not isinstance(ours, Mapping) or not isinstance(back, Mapping):
        if ours != back:
            yield path, ours, back
        return
    keys = ["name"] if ours.get("name") != back.get("name") else [*{**ours, **back}]
    for key in keys:
        yield from differences(ours.get(key), back.get(key), ignored, f"{path}.{key}".lstrip("."))


def _at(config: Any, name: str) -> Any:
    for key in name.split("."):
        if not isinstance(config, Mapping) or key not in config:
            return REQUIRED
        config = config[key]
    return config


def _put(config: Config, name: str, value: Any) -> None:
    *outer, last = name.split(".")
    for key in outer:
        config = config.setdefault(key, {})
    config[last] = value
