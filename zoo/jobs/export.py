"""The command `python -m zoo export`."""

from collections.abc import Sequence

from zoo.api import load
from zoo.errors import UserError
from zoo.published.writing import SHARD_BYTES, export
from zoo.registry import did_you_mean

KEYS = ("run", "to", "family", "shard_bytes", "plugins")


def export_run(words: Sequence[str]) -> None:
    """Write the model of `run=` into the folder `to=`, in the layout of its published family or of that of `family=`,
    in files of at most `shard_bytes=`. Raises UserError for bad input."""
    given: dict[str, str] = {}
    for word in words:
        key, found, value = word.partition("=")
        if not found or key not in KEYS:
            raise UserError(f"export takes no '{word}'{did_you_mean(key, KEYS)}; its keys: {', '.join(KEYS)}")
        given[key] = value
    for key in ("run", "to"):
        if not given.get(key):
            raise UserError(f"export needs {key}=, as in python -m zoo export run=runs/<run> to=folder")
    most = given.get("shard_bytes", str(SHARD_BYTES))
    if not most.isdecimal():
        raise UserError(f"shard_bytes={most} must be a whole number of at least 1")
    plugins = [one for one in given.get("plugins", "").strip("[]").split(",") if one]
    run = load(given["run"], plugins=plugins)
    files = export(run, given["to"], family=given.get("family"), shard_bytes=int(most))
    count = sum(one.numel() for one in run.model.parameters())
    print(f"{given['to']}: config.json and {count:,} parameters in {', '.join(files)}")
