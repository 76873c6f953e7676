"""A published folder, as a model of ours."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from zoo.assembly import assemble, build_model
from zoo.config import parse_model
from zoo.data.tokenizer import Tokenizer, load_tokenizer
from zoo.errors import UserError
from zoo.mismatch import Mismatch
from zoo.model import Model
from zoo.probe import check_probe
from zoo.published.family import Family, families
from zoo.published.layout import back, bound, names_of
from zoo.published.settings import keys_of, to_ours
from zoo.published.shards import read_tensors
from zoo.published.unknown import Unknown
from zoo.published.writing import OURS, TOKENIZER, published
from zoo.registry import did_you_mean
from zoo.run import Run
from zoo.training.files import read_json
from zoo.training.weights import load_weights, weights_of

HARMLESS = (
    *("_name_or_path", "architectures", "model_type", "dtype", "torch_dtype", "transformers_version"),
    *("bos_token_id", "eos_token_id", "pad_token_id", "sep_token_id", "cls_token_id", "mask_token_id"),
    *("use_cache", "initializer_range", "output_attentions", "output_hidden_states", "return_dict"),
)
"""Keys of any config.json that do not change what a model computes."""


def is_published(folder: Path) -> bool:
    """Whether it is a folder of that layout."""
    return (folder / "config.json").is_file()


def read_published(folder: Path, *, strict: bool = True) -> Run:
    """The model of a folder with config.json and safetensors. Raises UserError for a family that there is not, for a
    setting or a tensor that has no counterpart, that is missing or damaged, and where the model does not compute what
    was exported. Where it is not `strict`, tensors may be missing or have no counterpart."""
    family, facts = _settings(folder / "config.json")
    model_config, vocabulary = parse_model(facts["model"]), facts["vocabulary"]
    model = assemble(model_config, vocabulary) if strict else build_model(model_config, vocabulary, seed=0)
    tensors, mismatch = _tensors(folder, family, model, strict)
    _fill(model, family, tensors, folder)
    about = read_json(folder / OURS) if (folder / OURS).exists() else {}
    saved = about.get("probe")
    mismatch = replace(mismatch, unchecked=bool(mismatch.missing) and saved is not None)
    if not mismatch.unchecked:
        check_probe(model, saved, str(folder / OURS))
    architecture = about.get("architecture", {})
    step = about.get("step", 0)
    if not isinstance(architecture, dict) or type(step) is not int:
        raise UserError(f"{folder / OURS} is damaged: it has no architecture, or no step")
    config = {"objective": {"name": family.objective}, **architecture, **facts}
    return Run(model.eval(), _tokenizer(folder, vocabulary), config, step, mismatch)


def _settings(file: Path) -> tuple[Family, dict[str, Any]]:
    """The family of a config.json, and what it says in our words."""
    config, known = read_json(file), families()
    name = config.get("model_type")
    if not isinstance(name, str) or name not in known:
        raise UserError(
            f"{file}: no published family {name!r}{did_you_mean(str(name), known)}; there are {', '.join(known)}"
        )
    family = known[name]
    if config.get("architectures") not in (None, [family.architecture]):
        raise UserError(f"{file} is of {config['architectures']}, of this family only {family.architecture} is known")
    for key, value in family.fixed.items():
        if config.get(key, value) != value:
            raise UserError(f"{file} has {key}={config[key]!r}, which has no counterpart here; only {value!r} has")
    for older, key in family.renamed.items():
        if config.get(older) and config.get(key) and config[older] != config[key]:
            raise UserError(
                f"{file} has both {key}={config[key]!r} and its older name {older}={config[older]!r}, which differ;"
                " leave out the one that the model was not trained with"
            )
    understood = {*HARMLESS, *family.fixed, *keys_of(family.template)}
    strange = [key for key in _set(config, understood) if not _ignored(key, family.ignored)]
    if strange:
        raise UserError(f"{file} sets {', '.join(strange)}, which the family '{name}' does not know here")
    try:
        facts = to_ours(family.template, config)
    except UserError as error:
        raise UserError(f"{file.parent}: {error}") from error
    if facts["context"] is None:
        facts["context"] = facts["model"]["position"]["max_positions"]
    for key in ("vocabulary", "context"):
        if type(facts[key]) is not int or facts[key] < 1:
            raise UserError(f"{file}: {key} must be a whole number of at least 1, got {facts[key]!r}")
    return family, facts


def _set(config: Mapping[str, Any], understood: set[str]) -> Iterator[str]:
    """What a config.json sets that is not understood, with dots where it stands in a mapping that is."""
    for key, value in config.items():
        inner = {one for one in understood if one.startswith(f"{key}.")}
        if inner and isinstance(value, Mapping):
            yield from (f"{key}.{one}" for one in value if f"{key}.{one}" not in inner and value[one] is not None)
        elif key not in understood and value is not None:
            yield key


def _tensors(folder: Path, family: Family, model: Model, strict: bool) -> tuple[dict[str, Tensor], Mismatch]:
    """Their tensors under the names that are expected; others, and what is missing of them. Raises UserError that lists
    all that are of another shape and, if `strict`, those that are missing or unknown."""
    found = {name: one for name, one in read_tensors(folder).items() if not _ignored(name, family.ignored)}
    wanted = published(model, family)
    if family.prefix and not any(name.startswith(family.prefix) for name in found):
        found = {name if name in family.aliases else family.prefix + name: one for name, one in found.items()}
    for alias, name in family.aliases.items():
        if alias in found and alias not in wanted:
            value = found.pop(alias)
            if not torch.equal(found.setdefault(name, value), value):
                raise UserError(f"{folder} has different tensors for {name} and {alias}, which are tied in this model")
    shapes = [
        f"{name} {list(found[name].shape)} for {list(one.shape)}"
        for name, one in sorted(wanted.items())
        if name in found and found[name].shape != one.shape
    ]
    missing, unknown = sorted(wanted.keys() - found.keys()), sorted(found.keys() - wanted.keys())
    problems = {"missing": missing if strict else [], "unknown": unknown if strict else [], "of another shape": shapes}
    if any(problems.values()):
        lists = "; ".join(f"{what}: {', '.join(names)}" for what, names in problems.items() if names)
        raise UserError(f"the tensors in {folder} are not those of its config.json. {lists}")
    return found, Mismatch(tuple(missing), tuple(unknown))


def _fill(model: Model, family: Family, tensors: Mapping[str, Tensor], folder: Path) -> None:
    """What a missing tensor is part of keeps its initial value."""
    own, _ = weights_of(model)
    table = bound(family.tensors, own)
    partial = names_of({name: way for name, way in table.items() if name not in tensors})
    ours: dict[str, Tensor] = {}
    for name, way in table.items():
        if name in tensors:
            back(way, tensors[name], own, ours)
    whole = {name: one for name, one in ours.items() if name not in partial}
    load_weights(model, whole, {}, str(folder), strict=not partial)


def _tokenizer(folder: Path, vocabulary: int) -> Tokenizer:
    """Ours, where it lies beside."""
    file = folder / TOKENIZER
    if not file.exists():
        return Unknown(vocabulary)
    try:
        tokenizer = load_tokenizer(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{file} is damaged: {error}") from error
    if tokenizer.vocabulary != vocabulary:
        raise UserError(f"{file} has {tokenizer.vocabulary} ids, config.json says {vocabulary}")
    return tokenizer


def _ignored(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch(name, pattern) for pattern in patterns)
