"""The file that an evaluation leaves when it is asked to."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zoo.schema import convert
from zoo.training.files import json_text, refuse_unwritable, write_whole


def json_target(node: Mapping[str, Any]) -> Path | None:
    """The file of `json=`; None where none is asked for. Raises UserError for what can be no file, or not be
    written."""
    target = convert(node["json"], str | None, "json")
    if target is None:
        return None
    refuse_unwritable(Path(target), "json")
    return Path(target)


def write_json(target: Path | None, found: Any) -> None:
    """Write it whole, where a file is asked for."""
    if target is not None:
        write_whole(target, f"{json_text(found, indent=1)}\n".encode())
