"""The typed boundary: what Hydra composed goes in, a frozen Experiment comes out, or one clear error.

Past this file nobody sees a DictConfig, and no config error can appear.
"""

import importlib
from collections.abc import Iterable, Mapping
from typing import Any, get_type_hints

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from zoo.errors import UserError
from zoo.experiment import Budget, Experiment, ModelConfig, Record, Runtime
from zoo.families import AXES, FAMILY_PACKAGES, PER_LAYER
from zoo.plugins import load_plugins
from zoo.registry import FAMILIES, did_you_mean
from zoo.schema import convert, parse_choice, parse_option, positive, typed

ASIDE = ("resume", "match", "study", "dry_run", "fail_fast")
"""Keys of a composed config that are no part of an experiment: how one is found, or how several go together."""


def parse(config: DictConfig | Mapping[str, Any]) -> Experiment:
    """The typed experiment. Raises UserError for anything unknown, missing, mistyped or contradictory."""
    node = plain(config)
    load_plugins(node.pop("plugins", None))
    _load_families()
    refuse_unknown(node, [*Experiment.__dataclass_fields__], "")
    experiment = Experiment(
        model=parse_model(_mapping(node, "model")),
        objective=parse_option("objective", node.get("objective"), "objective"),
        data=parse_option("data", node.get("data"), "data"),
        tokenizer=parse_option("tokenizer", node.get("tokenizer"), "tokenizer"),
        optimizer=parse_option("optimizer", node.get("optimizer"), "optimizer"),
        schedule=parse_option("schedule", node.get("schedule"), "schedule"),
        budget=Budget(**typed(Budget, _mapping(node, "budget"), "budget", "the budget")),
        runtime=Runtime(**typed(Runtime, _mapping(node, "runtime"), "runtime", "the runtime")),
        record=Record(**typed(Record, _mapping(node, "record"), "record", "the record")),
        seed=convert(node.get("seed"), int, "seed"),
        out=folder_named(node.get("out"), "out"),
        cache=folder_named(node.get("cache"), "cache"),
    )
    _check(experiment)
    return experiment


def parse_model(node: Mapping[str, Any]) -> ModelConfig:
    """The `model` node of a config, or of a checkpoint's model.json."""
    _load_families()
    known = ModelConfig.__dataclass_fields__
    refuse_unknown(node, known, "model.")
    absent = [key for key in known if key not in node and key != "cross"]
    if absent:
        raise UserError(f"model needs {', '.join(absent)}")
    values: dict[str, Any] = {}
    for key in known:
        family, where = ("mixer" if key == "cross" else key), f"model.{key}"
        if key == "cross" and node.get(key) is None:
            values[key] = None
        elif key in PER_LAYER or key == "cross":
            values[key] = parse_choice(family, node[key], where)
        elif key in AXES:
            values[key] = parse_option(family, node[key], where)
        else:
            values[key] = convert(node[key], get_type_hints(ModelConfig)[key], where)
    model = ModelConfig(**values)
    positive("model", d_model=model.d_model, n_layers=model.n_layers, n_heads=model.n_heads)
    if not 0 <= model.dropout < 1:
        raise UserError(f"model.dropout={model.dropout} must be at least 0 and below 1")
    return model


def plain(config: DictConfig | Mapping[str, Any]) -> dict[str, Any]:
    """Resolved plain containers; all missing values are named at once."""
    if not isinstance(config, DictConfig):
        return dict(config)
    try:
        absent = sorted(OmegaConf.missing_keys(config))
        if absent:
            raise UserError(f"no value for {', '.join(absent)}; set it as in {absent[0]}=...")
        resolved = OmegaConf.to_container(config, resolve=True)
    except OmegaConfBaseException as error:
        raise UserError(f"the config does not resolve: {str(error).splitlines()[0]}") from error
    assert isinstance(resolved, dict)
    return {str(key): value for key, value in resolved.items()}


def _load_families() -> None:
    for package in FAMILY_PACKAGES.values():
        importlib.import_module(package)


def _mapping(node: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = node.get(key)
    if not isinstance(value, Mapping):
        raise UserError(f"{key} must be a mapping, whose keys are set by themselves as in {key}.<key>=…; got {value!r}")
    return value


def refuse_unknown(node: Mapping[str, Any], known: Iterable[str], prefix: str) -> None:
    """Raise UserError for the first key that is not known."""
    for key in node:
        if key not in known:
            raise UserError(
                f"{prefix}{key} is no key of the config{did_you_mean(key, known)}; choose from {', '.join(known)}"
            )


def folder_named(value: Any, key: str) -> str:
    """The path of a folder. Raises UserError for an empty one, which would be the launch folder."""
    path: str = convert(value, str, key)
    if not path:
        raise UserError(f"{key}= is empty; give a folder, as in {key}=my_folder")
    return path


def _check(experiment: Experiment) -> None:
    """What only shows when the parts are seen together."""
    positive("budget", **vars(experiment.budget))
    record = {key: value for key, value in vars(experiment.record).items() if key != "lengths"}
    lengths = experiment.record.lengths or ()
    positive("record", **record, lengths=min(lengths, default=1))
    for one in lengths:
        if lengths.count(one) > 1:
            raise UserError(f"record.lengths names {one} twice; name each length once")
    if not 0 <= experiment.seed < 1 << 63:
        raise UserError(f"seed={experiment.seed} must be at least 0 and below 2^63")
    topology = experiment.model.topology.name
    reason = refuse_topology(experiment.objective.name, topology)
    if reason:
        fitting = [f"objective={name}" for name in FAMILIES["objective"].names() if not refuse_topology(name, topology)]
        raise UserError(f"{reason}; choose {' or '.join([*fitting, 'another model/topology'])}")


def refuse_topology(objective: str, topology: str) -> str | None:
    """Why that objective cannot train that topology; None when it can."""
    wanted, traits = FAMILIES["objective"].get(objective), FAMILIES["topology"].get(topology).traits
    if wanted.serves(traits):
        return None
    return f"objective '{objective}' needs a topology that {wanted.wants}, not '{topology}', which reads {traits}"
