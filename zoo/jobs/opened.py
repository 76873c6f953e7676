"""A run as an evaluation asks for it: rebuilt, and put where it is to be computed."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from zoo.api import Run, load
from zoo.errors import UserError
from zoo.experiment import Runtime
from zoo.jobs.parts import place
from zoo.plugins import load_plugins
from zoo.schema import convert, typed
from zoo.training.runtime import Machinery, resolve


@dataclass(frozen=True)
class Opened:
    """A run, where it lies, and how it is computed."""

    run: Run
    folder: Path
    """The run folder, where that is what was given or a checkpoint in it was."""
    machinery: Machinery


def opened(node: Mapping[str, Any]) -> Opened:
    """The run of an evaluation's config, on its device, not compiled. Raises UserError for bad input."""
    load_plugins(node["plugins"])
    path = Path(convert(node["run"], str, "run"))
    if not isinstance(node["runtime"], Mapping):
        raise UserError("the config has no runtime")
    machinery = resolve(
        Runtime(**typed(Runtime, node["runtime"], "runtime", "the runtime")), convert(node["cache"], str, "cache")
    )
    run = load(path)
    torch.set_num_threads(machinery.threads)
    place(run.model, replace(machinery, compile=False))
    return Opened(run, path if (path / "config.yaml").exists() else path.resolve().parent.parent, machinery)
