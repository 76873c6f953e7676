"""What makes two runs the same run, and what a run's folder is called."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from zoo.errors import UserError
from zoo.training.run import run_name

MACHINERY = ("runtime", "out", "cache", "data", "resume", "plugins")
"""Keys that are no part of a run's identity; of the data, the fingerprint is."""


def science_of(node: Mapping[str, Any], fingerprint: str) -> dict[str, Any]:
    """The part of a resolved config that a run is identified by, with the fingerprint of its data."""
    return {key: value for key, value in node.items() if key not in MACHINERY} | {"data": fingerprint}


def with_resolved_paths(data: Mapping[str, Any], summary: Mapping[str, Any]) -> dict[str, Any]:
    """The data node with its paths as they were found, so that a run can be resumed from another folder."""
    resolved = {path["given"]: path["resolved"] for path in summary.get("paths", [])}
    return {key: resolved.get(value, value) if isinstance(value, str) else value for key, value in data.items()}


def slug(about: Mapping[str, Any]) -> list[str]:
    """The readable half of a run's name: model, data, and what else was chosen on the command line."""
    words = [about["choices"].get("model", "model"), about["choices"].get("data", "data")]
    for override in sorted(about["overrides"], key=lambda one: "/" not in one.partition("=")[0]):  # parts first
        key, _, value = override.lstrip("+~").partition("=")
        if key not in ("model", "data", "data.path") and key.split(".")[0] not in MACHINERY:
            words.append(f"{key.replace('/', '.').split('.')[-1]}-{value}")
    return words


def find_folder(root: Path, words: list[str], science: Mapping[str, Any]) -> Path:
    """The folder of that science under `root`: the one that there is, whatever its readable half, or a new name."""
    name = run_name(words, science)
    same = sorted(root.glob(f"*-{name.rpartition('-')[2]}")) if root.is_dir() else []
    return same[0] if same else root / name


def read_run(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The resolved config of a run folder, and what its record says of how it was chosen. Raises UserError when the
    folder is no run folder."""
    try:
        node = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError, ValueError) as error:
        raise UserError(f"{folder} is no run folder: it has no readable config.yaml") from error
    if not isinstance(node, dict):
        raise UserError(f"{folder / 'config.yaml'} is empty or damaged; the run cannot be rebuilt from it")
    record = read_record(folder)
    return node, {key: record[key] for key in ("choices", "overrides", "science")}


def read_record(folder: Path) -> dict[str, Any]:
    """What record.json of a run folder says. Raises UserError when it is missing or damaged."""
    try:
        record: dict[str, Any] = json.loads((folder / "record.json").read_text(encoding="utf-8"))
        missing = {"choices", "overrides", "science", "machinery"} - record.keys()
    except (OSError, ValueError, AttributeError) as error:
        raise UserError(f"{folder} has no readable record.json; remove the folder to begin anew") from error
    if missing:
        raise UserError(f"{folder / 'record.json'} lacks {', '.join(sorted(missing))}; remove the folder to begin anew")
    return record
