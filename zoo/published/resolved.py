"""A model node with every default written out: what another library needs, which knows nothing of our nulls."""

import inspect
from collections.abc import Mapping
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from zoo.families import AXES
from zoo.ffn.dense import hidden_width
from zoo.registry import FAMILIES
from zoo.schema import fields

Node = dict[str, Any]


def resolved(model: Mapping[str, Any]) -> Node:
    """The `model` node of a config with all keys of all options, and numbers in place of the nulls that stand for what
    follows from the others; `ratio` and `multiple_of` then say nothing more."""
    found = {key: _whole(key, value) if key in AXES else value for key, value in model.items()}
    found.setdefault("cross", None)
    for key in ("mixer", "cross"):
        if found[key] is not None:
            found[key] = _filled(found[key], found)
    found["ffn"] = _filled(found["ffn"], found)
    return found


def _whole(family: str, node: Mapping[str, Any]) -> Node:
    """An option with the defaults of its signature; a pattern stays as it is, no published family has one."""
    if node.get("name") == "pattern":
        return dict(node)
    cls = FAMILIES[family].get(node["name"])
    hints = get_type_hints(cls.__init__, include_extras=True)
    defaults = {key: p.default for key, p in fields(cls).items() if p.default is not inspect.Parameter.empty}
    found = {**defaults, **node}
    for key, hint in hints.items():
        if get_origin(hint) is Annotated and isinstance(found.get(key), Mapping):
            found[key] = _whole(get_args(hint)[1], found[key])
    return found


def _filled(node: Node, model: Mapping[str, Any]) -> Node:
    """The nulls of a mixer or an ffn, as their constructors read them."""
    found = dict(node)
    meanings = {
        "bias": model["bias"],
        "dropout": model["dropout"],
        "n_kv_heads": model["n_heads"],
        "head_dim": model["d_model"] // model["n_heads"],
    }
    for key, meaning in meanings.items():
        if key in found and found[key] is None:
            found[key] = meaning
    if {"d_ff", "ratio", "multiple_of"} <= found.keys():
        width, ratio, multiple = found["d_ff"], found.pop("ratio"), found.pop("multiple_of")
        found["d_ff"] = hidden_width(model["d_model"], width, ratio, multiple)
    if isinstance(found.get("expert"), Mapping):
        found["expert"] = _filled(found["expert"], model)
    return found
