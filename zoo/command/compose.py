"""Compose a config as the command line would, and see to it that presets only choose."""

from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml
from hydra import compose as hydra_compose
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, open_dict

from zoo.command.hydra_at_conf import hydra_at_conf
from zoo.command.hydra_errors import refusal
from zoo.command.words import refuse_absent_folders, refuse_several
from zoo.errors import UserError
from zoo.families import GROUPS, choosing, group_of, part_at


def compose(overrides: Sequence[str], config: str = "train") -> DictConfig:
    """The config that `python train.py <overrides>` would run with. Raises UserError for what it would refuse. Inside
    a running Hydra app, that app is left as it was."""
    refuse_absent_folders(overrides)
    try:
        with hydra_at_conf():
            composed = hydra_compose(config_name=config, overrides=list(overrides), return_hydra_config=True)
            refuse_leaks(composed.hydra)
    except (HydraException, ValueError) as error:
        message = refusal(error, config, overrides)
        if message is None:
            raise
        raise UserError(message) from error
    with open_dict(composed):
        del composed.hydra
    return composed


def refuse_leaks(hydra: DictConfig | Any) -> None:
    """A value meant for one part must not act on another. Raises UserError that names the file, or the override, and
    the value.

    A preset or study file chooses options; a value that it writes inside a part would stay behind, and act, when that
    part is swapped for another with the same key. An option file sets the values of its own part. And an override of a
    part's name would put another part to the values of the one before, as would a list of options.

    `hydra` is Hydra's own config of the run. To be called where Hydra is at hand: inside a job, or inside
    `hydra_at_conf`.
    """
    overrides = [*hydra.overrides.hydra, *hydra.overrides.task]
    for override in overrides:
        refuse_several(override)
        _refuse_name(override)
    loader = GlobalHydra.instance().config_loader()
    sources = [(source.schema, source.path) for source in hydra.runtime.config_sources]
    for default in loader.compute_defaults_list(hydra.job.config_name, overrides, RunMode.RUN).defaults:
        path = default.config_path
        if path is None or path.partition("/")[0] == "hydra":
            continue
        group, package = path.rpartition("/")[0], default.package or ""
        if group in GROUPS and (own := part_at(package)) is not None and group_of(own) == group:
            continue
        for key in _inside_parts(_content(path, sources), package):
            raise UserError(
                f"{path}.yaml sets {key}, a value inside a part: it would leak into another part chosen in its place;"
                " write an option file with that value and choose it, or give the value on the command line"
            )


def _refuse_name(override: str) -> None:
    key, _, value = override.lstrip("+~").partition("=")
    if key.endswith(".name") and part_at(key.removesuffix(".name")) is not None:
        raise UserError(
            f"{key} would put another part to the values of the one that is chosen; choose it with"
            f" {choosing(key.removesuffix('.name'))}={value}"
        )


def _content(config_path: str, sources: Sequence[tuple[str, str]]) -> Any:
    """What the file of that config says, from the first source that has it."""
    for schema, root in sources:
        folder = {"file": Path, "pkg": lambda name: files(name.replace("/", "."))}.get(schema)
        if folder is not None and root:
            file = folder(root) / f"{config_path}.yaml"
            if file.is_file():
                return yaml.safe_load(file.read_text(encoding="utf-8"))
    return {}


def _inside_parts(content: Any, package: str) -> Iterator[str]:
    """Keys that the content sets inside a part, when it stands at that package."""

    def walk(node: Any, at: str) -> Iterator[str]:
        if isinstance(node, dict):
            for key, value in node.items():
                yield from walk(value, f"{at}.{key}" if at else str(key))
        elif (part := part_at(at)) is not None and at != part:
            yield at

    yield from walk({key: value for key, value in (content or {}).items() if key != "defaults"}, package)
