"""model.json of a checkpoint: what the other files are, and a seal over what it says itself."""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zoo.errors import UserError
from zoo.training.files import canonical_json, parse_json

FORMAT = 2
"""Goes up with every change of what a checkpoint holds."""


def seal(about: Mapping[str, Any]) -> str:
    """The SHA-256 of what model.json says, but for its `seal`."""
    text = canonical_json({key: value for key, value in about.items() if key != "seal"})
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def read_about(path: Path) -> dict[str, Any]:
    """What model.json says, each thing of its type."""
    file = path / "model.json"
    if path.is_file():
        raise UserError(f"{path} is a file, and no checkpoint: a checkpoint is a folder")
    try:
        about = parse_json(file.read_text(encoding="utf-8"))
        found = about["format"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{file} is missing or damaged, so {path} is no checkpoint") from error
    if type(found) is not int or found != FORMAT:
        raise UserError(f"{path} has format {found}, this version reads {FORMAT}: use the version that wrote it")
    try:
        sealed = about["seal"] == seal(about)
    except (ValueError, KeyError) as error:
        raise UserError(f"{file} is damaged: it has no seal") from error
    if not sealed:
        raise UserError(f"{file} is damaged: it does not say what was saved")
    problem = _problem(path, about)
    if problem:
        raise UserError(f"{file} is damaged: {problem}")
    return dict(about)


def _problem(path: Path, about: Mapping[str, Any]) -> str | None:
    """What of model.json is not of its type."""
    step = about.get("step")
    if type(step) is not int or step < 0:
        return "step must be a whole number of at least 0"
    if re.fullmatch(r"step_\d+", path.name) and step != number_of(path):
        return f"it is of step {step}"
    if not isinstance(about.get("architecture"), dict):
        return "architecture must be a mapping"
    for key in ("ties", "sha256"):
        node = about.get(key)
        if not isinstance(node, dict) or not all(isinstance(one, str) for one in node.values()):
            return f"{key} must be a mapping of names to text"
    return None


def digest_of(file: Path) -> str | None:
    """The SHA-256 of a file; None when it cannot be read."""
    try:
        with file.open("rb") as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()
    except OSError:
        return None


def number_of(path: Path) -> int:
    """N of a folder step_N."""
    return int(path.name.removeprefix("step_"))
