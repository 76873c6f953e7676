"""A model of ours, in the layout of the published family that it belongs to."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from zoo.errors import UserError
from zoo.paths import as_path
from zoo.probe import probe
from zoo.published.family import Family, families
from zoo.published.layout import bound, names_of, out
from zoo.published.resolved import resolved
from zoo.published.settings import Config, differences, free, to_ours, to_theirs
from zoo.published.shards import write_tensors
from zoo.published.unknown import Unknown
from zoo.registry import did_you_mean
from zoo.run import Run, bare_run
from zoo.training.files import json_text, refusals
from zoo.training.weights import weights_of

SHARD_BYTES = 5_000_000_000
"""How large a file of weights may be."""

OURS = "zoo.json"
"""Beside the published files: what only we can use."""
TOKENIZER = "zoo_tokenizer.json"


def export(run: Run, to: str | Path, *, family: str | None = None, shard_bytes: int = SHARD_BYTES) -> list[str]:
    """Write the model of a run (from `zoo.load`) into a new folder, as config.json and safetensors of its published
    family; `zoo.load` reads it back. What the layout has and the model has not is zeros: the token types of a BERT,
    2 × d_model numbers. Returns the names of the files of weights. Raises UserError for a model that no family, or not
    the one named, can express, and for a folder that holds something."""
    run, folder = bare_run("run", run), as_path("to", to)
    if type(shard_bytes) is not int or shard_bytes < 1:
        raise UserError(f"shard_bytes={shard_bytes!r} must be a whole number of at least 1")
    if run.mismatch:
        raise UserError("a model that was loaded with strict=False is not exported: the folder would not say so")
    kind, config = expressed(run.config, family)
    tensors = published(run.model, kind)
    if not isinstance(run.tokenizer, Unknown):
        marks = run.tokenizer.special
        config |= {"bos_token_id": marks.start, "eos_token_id": marks.end, "pad_token_id": marks.end}
    ours = {key: value for key, value in run.config.items() if key not in ("model", "probe")}
    about = {"format": 1, "step": run.step, "architecture": ours, "probe": probe(run.model)}
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder} exists and is not empty; choose another folder with to=")
    beside = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
    with refusals(folder):
        try:
            beside.mkdir(parents=True)
            files = write_tensors(beside, tensors, shard_bytes)
            (beside / "config.json").write_text(json_text(config, indent=1) + "\n", encoding="utf-8")
            (beside / OURS).write_text(json_text(about, indent=1) + "\n", encoding="utf-8")
            if not isinstance(run.tokenizer, Unknown):
                (beside / TOKENIZER).write_text(run.tokenizer.to_json(), encoding="utf-8")
            os.replace(beside, folder)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    return files


def expressed(about: Mapping[str, Any], name: str | None = None) -> tuple[Family, Config]:
    """The family that can say all of a model, and its config.json. Raises UserError that names what the nearest family
    cannot say."""
    known = families()
    if name is not None and name not in known:
        raise UserError(f"no published family '{name}'{did_you_mean(name, known)}; choose from {', '.join(known)}")
    tried = []
    for family in known.values() if name is None else [known[name]]:
        config, lost = _said(family, about)
        if not lost:
            return family, config
        tried.append((len(lost), family.name, lost))
    _, nearest, lost = min(tried, key=lambda one: one[0])
    what = "; ".join(f"{path}={_word(ours)}, where it can only say {_word(back)}" for path, ours, back in lost[:3])
    more = f"; and {len(lost) - 3} more" if len(lost) > 3 else ""
    which = f"family '{nearest}'" if name or len(known) == 1 else f"no published family fits; the nearest, '{nearest}',"
    raise UserError(f"{which} has no place for {what}{more}")


def _said(family: Family, about: Mapping[str, Any]) -> tuple[Config, list[tuple[str, Any, Any]]]:
    """The config.json of a model, and what it loses: (path, ours, what would come back)."""
    facts = {"vocabulary": about["vocabulary"], "context": about["context"], "model": resolved(about["model"])}
    config: Config = {"architectures": [family.architecture], "model_type": family.name, "dtype": "float32"}
    config |= family.fixed
    to_theirs(family.template, facts, config)
    back = to_ours(family.template, config, partial=True)
    back["model"] = resolved(back["model"])
    return config, list(differences(facts, back, frozenset(free(family.template))))


@torch.no_grad()
def published(model: torch.nn.Module, family: Family) -> dict[str, Tensor]:
    """Their tensors, by their names, each once."""
    ours, _ = weights_of(model)
    table = bound(family.tensors, ours)
    left = ours.keys() - names_of(table)
    if left:
        raise UserError(f"family '{family.name}' has no place for {', '.join(sorted(left))}")
    return {name: out(way, ours) for name, way in table.items()}


def _word(value: Any) -> str:
    return "null" if value is None else str(value)
