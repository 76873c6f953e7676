"""What makes two runs the same run, and what a run's folder is called."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from zoo.errors import UserError

MACHINERY = ("runtime", "out", "cache", "data")
"""Keys that are no part of a run's identity; of the data, the fingerprint is."""


def science_of(node: Mapping[str, Any], fingerprint: str) -> dict[str, Any]:
    """The part of a resolved config that a run is identified by, with the fingerprint of its data."""
    return {key: value for key, value in node.items() if key not in MACHINERY} | {"data": fingerprint}


def slug(choices: Mapping[str, str], overrides: list[str]) -> list[str]:
    """The readable half of a run's name: model, data, and what else was chosen."""
    words = [choices.get("model", "model"), choices.get("data", "data")]
    for override in overrides:
        key, _, value = override.lstrip("+~").partition("=")
        if key not in ("model", "data", "out", "cache", "resume", "plugins", "data.path") and "runtime" not in key:
            words.append(f"{key.replace('/', '.').split('.')[-1]}-{value}")
    return words


def read_config(folder: Path) -> dict[str, Any]:
    """The resolved config of a run folder. Raises UserError when there is none."""
    try:
        node = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise UserError(f"{folder} has no readable config.yaml, so it is no run folder") from error
    if not isinstance(node, dict):
        raise UserError(f"{folder / 'config.yaml'} is empty or damaged; the run cannot be rebuilt from it")
    return node
