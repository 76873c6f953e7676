"""Checkpoints: folders that are whole or absent, checked when they are read, and never unpickled.

checkpoints/step_N/model.safetensors   the weights, tied ones once
                   ema.safetensors     their average, when the optimizer keeps one
                   model.json          architecture, ties, parameter count, format, sha256 of each file, itself included
                   tokenizer.json      how text becomes ids
                   train_state.pt      what a resumed run needs, and nobody else: plain dicts and tensors
"""

import hashlib
import io
import json
import logging
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from torch import Tensor, nn

from zoo.errors import UserError
from zoo.mismatch import Mismatch
from zoo.training.files import flush_folder, refusals, remove, write_flushed
from zoo.training.manifest import FORMAT, digest_of, number_of, read_about, seal
from zoo.training.weights import load_weights, weights_of

TRAIN_STATE, WEIGHTS = "train_state.pt", "model.safetensors"
ALWAYS = frozenset({WEIGHTS, "tokenizer.json"})
"""The files without which a folder is no checkpoint."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Checkpoint:
    """A folder whose files are as they were written; made by `open_checkpoint`."""

    path: Path
    step: int
    architecture: dict[str, Any]
    ties: dict[str, str]
    averaged: bool
    changed: bool = False
    """Whether the weights are not those that were saved."""

    @property
    def tokenizer(self) -> str:
        """The text of tokenizer.json. Raises UserError when it cannot be read."""
        file = self.path / "tokenizer.json"
        try:
            return file.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise UserError(f"{file} is missing or damaged: it is no UTF-8 text") from error

    def load_model(self, model: nn.Module, *, averaged: bool = False, strict: bool = True) -> Mismatch:
        """Fill the model with the weights, or with their average when there is one and it is asked for. Unless that is
        `strict`, tensors may be missing or left over, and are returned."""
        file = self.path / WEIGHTS
        tensors = _tensors(file) | (self.average() if averaged else {})
        return replace(load_weights(model, tensors, self.ties, str(file), strict=strict), changed=self.changed)

    def average(self) -> dict[str, Tensor]:
        """The averaged weights; {} when there are none."""
        return _tensors(self.path / "ema.safetensors") if self.averaged else {}

    def train_state(self) -> dict[str, Any]:
        """What a resumed run needs. Raises UserError, and runs nothing, when the file holds more than plain data."""
        path = self.path / TRAIN_STATE
        try:
            state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        except Exception as error:  # whatever a damaged file makes the reader raise
            raise UserError(f"{path} is refused: it holds more than plain dicts and tensors, or is damaged") from error
        if not isinstance(state, dict):
            raise UserError(f"{path} is refused: it is no dict")
        return state


def save_checkpoint(
    folder: Path,
    step: int,
    model: nn.Module,
    *,
    architecture: Mapping[str, Any],
    tokenizer: str,
    train_state: Mapping[str, Any],
    average: Mapping[str, Tensor] | None = None,
    keep: int = 2,
) -> Path:
    """Write `folder/step_N`, keep the newest `keep` up to it, and remove those beyond it: a run that fell back to an
    older one has left them. Raises UserError when the disk refuses, and then leaves nothing behind."""
    tensors, ties = weights_of(model)
    files = {
        WEIGHTS: safetensors.torch.save(tensors),
        "tokenizer.json": tokenizer.encode(),
        TRAIN_STATE: _saved(train_state),
    }
    if average:
        averages = {name: one.cpu().contiguous() for name, one in average.items()}
        files["ema.safetensors"] = safetensors.torch.save(averages)
    count = sum(parameter.numel() for parameter in model.parameters())
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    about = {"format": FORMAT, "step": step, "architecture": dict(architecture), "parameters": count, "ties": ties}
    about["sha256"] = digests
    files["model.json"] = (json.dumps({**about, "seal": seal(about)}, indent=1, allow_nan=False) + "\n").encode()
    with refusals(folder):
        folder.mkdir(parents=True, exist_ok=True)
        _clear(folder)
        _write(folder, f"step_{step}", files)
        steps = _steps(folder)
        beyond = [one for one in steps if number_of(one) > step]
        for old in [*beyond, *steps[len(beyond) + max(keep, 1) :]]:
            _remove(old)
    return folder / f"step_{step}"


def open_checkpoint(path: Path, *, to_resume: bool = False, strict: bool = True) -> Checkpoint:
    """A checkpoint folder, checked; its train_state.pt only when a run is to go on from it. Raises UserError that names
    the file which is missing, damaged or too new; of other weights than were saved that is only noted where it is not
    `strict`."""
    about = read_about(path)
    digests = about["sha256"]
    needed = {TRAIN_STATE} if to_resume or (path / TRAIN_STATE).exists() else set()
    for name in sorted((ALWAYS | needed) - digests.keys()):
        raise UserError(f"{path / 'model.json'} has no sha256 of {name}, so that {name} cannot be trusted")
    changed = False
    for name, wanted in digests.items():
        if name == TRAIN_STATE and not to_resume:
            continue
        file = path / Path(name).name
        found = digest_of(file)
        if found != wanted and (strict or name != WEIGHTS or found is None):
            raise UserError(f"{file} is missing or damaged: it is not the file that was saved")
        changed = changed or found != wanted
    averaged = "ema.safetensors" in digests
    return Checkpoint(path, about["step"], about["architecture"], about["ties"], averaged, changed)


def latest_checkpoint(folder: Path, *, to_resume: bool = False, strict: bool = True) -> Checkpoint | None:
    """The newest checkpoint that is whole; damaged ones are passed over with a warning. None when there is none at
    all; raises UserError when all are damaged."""
    problems = []
    for path in _steps(folder):
        try:
            return open_checkpoint(path, to_resume=to_resume, strict=strict)
        except UserError as error:
            log.warning("%s; falling back to the checkpoint before it", error)
            problems.append(str(error))
    if problems:
        raise UserError("every checkpoint is damaged: " + "; ".join(problems))
    return None


def newest_step(folder: Path) -> int | None:
    """The step of the newest checkpoint, whole or not; None when there is none."""
    return next((number_of(path) for path in _steps(folder)), None)


def _steps(folder: Path) -> list[Path]:
    """The step folders, newest first."""
    found = [path for path in folder.glob("step_*") if re.fullmatch(r"step_\d+", path.name)]
    return sorted(found, key=number_of, reverse=True)


def _write(folder: Path, name: str, files: Mapping[str, bytes]) -> None:
    beside = folder / f".{name}.tmp"
    try:
        beside.mkdir()
        for file, data in files.items():
            write_flushed(beside / file, data)
        flush_folder(beside)
        if os.path.lexists(folder / name):  # a damaged one, which this run has come by again
            _remove(folder / name)
        os.rename(beside, folder / name)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    flush_folder(folder)


def _remove(path: Path) -> None:
    """Under another name first, so that a process killed half-way leaves no half checkpoint."""
    aside = path.with_name(f".{path.name}.old.tmp")
    os.rename(path, aside)
    remove(aside)


def _clear(folder: Path) -> None:
    """Sweep up what a killed process left. Only the holder of the run's lock comes here."""
    for left in folder.glob(".step_*.tmp"):
        remove(left)


def _saved(state: Mapping[str, Any]) -> bytes:
    buffer = io.BytesIO()
    torch.save(dict(state), buffer)
    return buffer.getvalue()


def _tensors(path: Path) -> dict[str, Tensor]:
    try:
        return safetensors.torch.load_file(path)
    except Exception as error:  # whatever a damaged file makes the reader raise
        raise UserError(f"{path} is no safetensors file, or a damaged one: {error}") from error
