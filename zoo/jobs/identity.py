"""What a run is known by, and what its folder is called."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from zoo.errors import UserError
from zoo.training.files import canonical_json
from zoo.training.run import read_record

DIGITS = 16

SCIENCE = ("model", "objective", "tokenizer", "optimizer", "schedule", "budget", "seed")
"""Fields of an experiment that a run is identified by, with the fingerprint of its data."""

OBSERVATION = ("evaluate_every", "evaluate_batches")
"""Keys of the budget that only look at the run."""

CODE, VERSION = "(code)", "(version)"
"""Where the science of an option keeps the hash of a plugin's code, and the `version` of an option whose arithmetic has
changed: no key of an option can be called that."""

SILENT = ("runtime", "record", "out", "cache", "resume", "plugins", "hydra", "model", "data")
"""Overrides that say nothing in a run's name, or have said it already; a part or a size of the model says its own."""

UNSAID = ("data.path", "match.reference", "study", "dry_run", "fail_fast")
"""Single keys of that kind."""


def run_name(words: Iterable[str], science: Mapping[str, Any]) -> str:
    """`<slug>-<16 hex>`: the slug is made of the words, at most 48 safe characters; the digits are of the SHA-256 of
    the science, so the same science has the same digits whatever machine, spelling or order it comes in."""
    slug = re.sub(r"[^a-z0-9.]+", "-", "-".join(words).lower()).strip("-.")[:48].rstrip("-.")
    return f"{slug or 'run'}-{hashlib.sha256(canonical_json(science).encode()).hexdigest()[:DIGITS]}"


def slug(choices: Mapping[str, str | None], overrides: Iterable[str]) -> list[str]:
    """The readable half of a run's name: model, data, and what else was chosen on the command line: parts first, then
    other values, how much and how fast last."""
    words = [choices.get("model") or "model", choices.get("data") or "data"]
    for override in sorted(overrides, key=_rank):
        key, _, value = override.lstrip("+~").partition("=")
        top = key.split(".")[0]
        silent = key in SILENT or key in UNSAID or (top in SILENT and top not in ("model", "data"))
        if not silent and key.removeprefix("budget.") not in OBSERVATION:
            words.append(f"{key.replace('/', '.').split('.')[-1]}-{value}")
    return words


def _rank(override: str) -> int:
    key = override.partition("=")[0]
    return 0 if "/" in key else 2 if key.startswith(("budget.", "schedule")) else 1


def find_folder(root: Path, words: list[str], science: Mapping[str, Any], written: Mapping[str, Any]) -> Path:
    """The folder of that science under `root`: the one that there is, whatever its readable half, also where it is
    known by its science as written; or a new name. Raises UserError when there are two, or when the name is taken by
    another run."""
    path = _found(root, words, science)
    before = path if science == written else _found(root, words, written)
    return before if (before / "record.json").exists() and not (path / "record.json").exists() else path


def _found(root: Path, words: list[str], science: Mapping[str, Any]) -> Path:
    path = root / run_name(words, science)
    digits = path.name.rpartition("-")[2]
    recorded = [one for one in sorted(root.glob(f"*-{digits}")) if (one / "record.json").exists()]
    same = [one for one in recorded if read_record(one)["science"] == science]
    if len(same) > 1:
        raise UserError(f"{same[0]} and {same[1]} are the same run; remove one of them")
    if not same and path in recorded:
        raise UserError(f"{path} is another run under the same name; choose another folder with out=")
    return same[0] if same else path


def with_resolved_paths(data: Mapping[str, Any], summary: Mapping[str, Any]) -> dict[str, Any]:
    """The data node with its paths as they were found, so that a run can go on from another folder. An entry of the
    summary's `paths` says its key; one that does not is looked for under the keys that are paths."""
    resolved = dict(data)
    for entry in summary.get("paths", []):
        named = entry.get("key", "").removeprefix("data.")
        keys = [named] if named else [key for key in data if key == "path" or key.endswith("_path")]
        resolved |= {key: entry["resolved"] for key in keys if data.get(key) == entry["given"]}
    return resolved
