"""Where the configs lie: beside the package in a checkout, inside it when installed. And what is a path at all."""

import os
from pathlib import Path
from typing import Any

from zoo.errors import UserError

_PACKAGE = Path(__file__).resolve().parent
CONF = next(path for path in (_PACKAGE / "conf", _PACKAGE.parent / "conf") if path.is_dir())


def as_path(name: str, given: Any) -> Path:
    """A path that a caller gave. Raises UserError for what is neither text nor a path."""
    if not isinstance(given, str | os.PathLike):
        raise UserError(f"{name} must be a path, as a text or a pathlib.Path; got {given!r} ({type(given).__name__})")
    return Path(given)
