"""Modules of the user's own that register parts. They are imported only when a command or a call names them."""

import importlib
import importlib.util
import os
import sys
from importlib.machinery import ModuleSpec
from typing import Any

from zoo.code import OWN, code_of, modules_of
from zoo.errors import UserError
from zoo.registry import FAMILIES

_registering: set[str] = set()
"""Plugins whose import has registered a part: a second import of theirs in this process registers nothing new."""


def load_plugins(value: Any) -> None:
    """Import what `plugins=` names. Raises UserError for a module that does not exist, cannot be imported, or registers
    no part."""
    for name in plugin_names(value):
        plugin_spec(name)
        before = len(_parts())
        try:
            importlib.import_module(name)
        except UserError:
            raise
        except (Exception, SystemExit) as error:
            raise UserError(f"plugins={name}: importing it fails with {type(error).__name__}: {error}") from error
        if len(_parts()) > before:
            _registering.add(name)
        elif name not in _registering and not _has_part(name):
            raise UserError(
                f"plugins={name} registers no part, and so does nothing; name a module that does, as with"
                ' @norms.register("my_norm"), or leave it out'
            )
    for cls in _parts():  # when all are there, since one may import later what another one has imported
        code_of(cls)  # now: the file may be edited while this process works with what it was


def _parts() -> list[type]:
    """The registered classes that are none of the zoo's own."""
    found = [cls for registry in FAMILIES.values() for cls in registry.registered()]
    return [cls for cls in found if cls.__module__.partition(".")[0] != OWN]


def _has_part(name: str) -> bool:
    """Whether a part lies in that module, below it, or in one of the user's own that it imports: somebody else may have
    imported them before."""
    reached = modules_of(name)
    return any(cls.__module__ in reached or cls.__module__.startswith(f"{name}.") for cls in _parts())


def plugin_names(value: Any) -> list[str]:
    """The modules that a value of `plugins` names: a list of them, one of them, or null."""
    names = [value] if isinstance(value, str) else [] if value is None else value
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) and name for name in names):
        raise UserError(f"plugins={value!r} must be a list of module names, as in plugins=[my_module]")
    return list(names)


def plugin_spec(name: str) -> ModuleSpec:
    """Where the module is, without importing it (only the packages around it). Raises UserError when it is nowhere."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        raise UserError(f"plugins={name}: there is no such module on PYTHONPATH, nor in this folder, {os.getcwd()}")
    return spec


def find_plugins_here() -> None:
    """Let a plugin lie in the folder that a command is started from. It comes last: no file there hides a library."""
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
