"""What makes two runs the same run."""

from dataclasses import replace
from typing import Any

from zoo.code import code_of
from zoo.experiment import Experiment
from zoo.jobs.identity import CODE, OBSERVATION, SCIENCE, VERSION
from zoo.jobs.unset import as_unset
from zoo.option import Option, Pattern
from zoo.registry import FAMILIES
from zoo.schema import defaults, family_of, fields


def science_of(experiment: Experiment, fingerprint: str) -> dict[str, Any]:
    """What a run is identified by, as plain JSON: typed, with every default that no file wrote down, and with a hash of
    the code of each plugin. Values that say what leaving them out says are left out."""
    return science_as_written(replace(experiment, model=as_unset(experiment.model)), fingerprint)


def science_as_written(experiment: Experiment, fingerprint: str) -> dict[str, Any]:
    """The same with such values, as runs of before were identified."""
    science = {field: _plain(getattr(experiment, field), field) for field in SCIENCE}
    science["budget"] = {key: value for key, value in science["budget"].items() if key not in OBSERVATION}
    code = code_of(FAMILIES["data"].get(experiment.data.name))
    return science | {"data": fingerprint} | ({} if code is None else {f"data {CODE}": code})


def _plain(value: Any, family: str) -> Any:
    match value:
        case Option():
            return {"name": value.name, **_known_by(FAMILIES[family].get(value.name)), **_values(value, family)}
        case Pattern():
            options = {key: _plain(option, family) for key, option in value.distinct.items()}
            return {"layers": list(value.layers), **options}
        case tuple():
            return [_plain(one, family) for one in value]
        case None | str() | int() | float():
            return value
        case _:
            return {key: _plain(one, "mixer" if key == "cross" else key) for key, one in vars(value).items()}


def _known_by(cls: type) -> dict[str, Any]:
    """What tells an option from another one of that name, or of before."""
    code, version = code_of(cls), getattr(cls, "version", 1)
    return ({} if code is None else {CODE: code}) | ({} if version == 1 else {VERSION: version})


def _values(option: Option, family: str) -> dict[str, Any]:
    """All keyword-only values of the option, the defaults of its signature too. An option inside it has its own."""
    cls = FAMILIES[family].get(option.name)
    values = {**defaults(cls), **option.values}
    return {key: _plain(one, family_of(fields(cls)[key], family)) for key, one in values.items()}
