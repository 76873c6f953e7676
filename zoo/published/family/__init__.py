"""The published families that there are: each a file of this folder with a `FAMILY`."""

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from zoo.published.layout import Table
from zoo.published.settings import Template


@dataclass(frozen=True)
class Family:
    """One published family, as data.

    name: its model_type
    architecture: the class of transformers that a folder is for
    objective: what its models are trained for, by our name
    template: of {model: our node, vocabulary, context}
    renamed: {older name of a mapping in config.json: its name}; both may be there only where they are equal, since
        which of them is read, whole, depends on the version of the library
    fixed: values of config.json that say how it computes and have one meaning here; written, and checked when read
    tensors: {their name: how it is made of ours}
    aliases: {other name of a tensor: its name}, for tables that are one
    prefix: what older files leave out in front of names
    ignored: patterns of tensors that hold nothing learned, and keys of config.json that change nothing here
    """

    name: str
    architecture: str
    objective: str
    template: Template
    tensors: Table
    renamed: Mapping[str, str] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    prefix: str = ""
    ignored: tuple[str, ...] = ()


@cache
def families() -> dict[str, Family]:
    """Every family by its name."""
    modules = [importlib.import_module(f"{__name__}.{one.name}") for one in pkgutil.iter_modules(__path__)]
    found = [module.FAMILY for module in modules]
    return {family.name: family for family in sorted(found, key=lambda one: one.name)}
