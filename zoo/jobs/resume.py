"""Going on with a run: everything is read from its folder, but for what the command line may still say."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from zoo.errors import UserError
from zoo.training.run import read_config

HONOURED = ("runtime", "record", "cache")
"""What a resumed run takes from the command line when it stands there: none of it is science."""

ELSEWHERE = ("resume", "plugins", "hydra")
"""What acts without the experiment."""


def resumed_node(folder: Path, composed: Mapping[str, Any], overrides: Sequence[str]) -> dict[str, Any]:
    """The config of the run in that folder, with the honoured overrides. Raises UserError for an override that would
    be ignored, and for a folder that asks for code to be imported."""
    node = read_config(folder)
    if "plugins" in node:  # nothing writes it there
        raise UserError(
            f"{folder / 'config.yaml'} names plugins, but a file may not have code imported; take them out of it and"
            " give them with the command, as in plugins=[my_module]"
        )
    for override in overrides:
        key = override.lstrip("+~").partition("=")[0]
        top, _, rest = key.partition(".")
        if top in ELSEWHERE:
            continue
        if top not in HONOURED or top not in composed:
            raise UserError(
                f"{override}: resume={folder} reads it from the run folder; beside it only {', '.join(HONOURED)} and"
                " plugins can be given. Leave it out, or start a new run without resume="
            )
        if rest:
            node[top] = {**_mapping(node, top, folder), rest: composed[top][rest]}
        else:
            node[top] = composed[top]
    return node


def _mapping(node: Mapping[str, Any], key: str, folder: Path) -> Mapping[str, Any]:
    if not isinstance(node.get(key), Mapping):
        raise UserError(f"{folder / 'config.yaml'} is damaged: it has no {key}")
    value: Mapping[str, Any] = node[key]
    return value
