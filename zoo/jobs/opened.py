"""A run as an evaluation asks for it: rebuilt, and put where it is to be computed."""

import sys
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from zoo.api import load
from zoo.config import folder_named
from zoo.errors import UserError
from zoo.experiment import Runtime
from zoo.jobs.parts import place
from zoo.plugins import load_plugins
from zoo.published.reading import is_published
from zoo.run import Run
from zoo.schema import convert, typed
from zoo.training.run import read_record
from zoo.training.runtime import Machinery, Work, refuse_absent, resolve


@dataclass(frozen=True)
class Opened:
    """A run, where it lies, and how it is computed."""

    run: Run
    folder: Path
    """The run folder, where that is what was given or a checkpoint in it was; else the published folder."""
    machinery: Machinery


def opened(node: Mapping[str, Any]) -> Opened:
    """The run of an evaluation's config, on its device, not compiled. Raises UserError for bad input."""
    load_plugins(node["plugins"])
    path = Path(convert(node["run"], str, "run"))
    run = load(path, strict=convert(node["strict"], bool, "strict"))
    machinery = machinery_of(node)
    put([run], machinery)
    return Opened(run, folder_of(path), machinery)


def folder_of(path: Path) -> Path:
    """The run folder that the path is, or in which it is a checkpoint; a published folder is its own."""
    whole = (path / "config.yaml").exists() or is_published(path)
    return path if whole else path.resolve().parent.parent


def machinery_of(node: Mapping[str, Any], work: Work | None = None) -> Machinery:
    """What `runtime` of an evaluation's config comes to here, which may have to be measured. Raises UserError for bad
    input."""
    return resolve(runtime_of(node), folder_named(node["cache"], "cache"), work)


def tell_emulated(machinery: Machinery) -> None:
    """Say on standard error that the dtype is emulated, where it is."""
    if slow := machinery.advice():
        print(slow, file=sys.stderr)


def runtime_of(node: Mapping[str, Any]) -> Runtime:
    """The `runtime` of an evaluation's config; a dtype that is left open is that of the training, so that scores are
    those the run ended with. Raises UserError for bad input, and for what this machine lacks."""
    if not isinstance(node["runtime"], Mapping):
        raise UserError("the config has no runtime")
    asked = dict(node["runtime"])
    if asked.get("dtype") == "auto":
        asked["dtype"] = _trained_in(Path(convert(node["run"], str, "run")))
    runtime = Runtime(**typed(Runtime, asked, "runtime", "the runtime"))
    refuse_absent(runtime)
    return runtime


def _trained_in(path: Path) -> str:
    """The dtype that a run folder, or the one that a checkpoint lies in, was trained in; auto where nothing says so."""
    for folder in (path, path.resolve().parent.parent):
        if (folder / "record.json").is_file():
            return str(read_record(folder)["machinery"].get("dtype", "auto"))
    return "auto"


def computing(machinery: Machinery) -> AbstractContextManager[Any]:
    """Computing in the dtype of `runtime`."""
    kind = torch.device(machinery.device).type
    return torch.autocast(kind, machinery.autocast or torch.bfloat16, enabled=machinery.autocast is not None)


def put(runs: Iterable[Run], machinery: Machinery) -> None:
    """The runs on their device; steps are compiled by what generates, not here."""
    torch.set_num_threads(machinery.threads)
    for run in runs:
        place(run.model, replace(machinery, compile=False))
