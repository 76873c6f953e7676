"""Modules of the user's own that register parts. They are imported only when a command or a call names them."""

import importlib
import importlib.util
import os
import sys
from importlib.machinery import ModuleSpec
from typing import Any

from zoo.errors import UserError


def load_plugins(value: Any) -> None:
    """Import what `plugins=` names. Raises UserError for a module that does not exist or cannot be imported."""
    for name in plugin_names(value):
        plugin_spec(name)
        try:
            importlib.import_module(name)
        except UserError:
            raise
        except (Exception, SystemExit) as error:
            raise UserError(f"plugins={name}: importing it fails with {type(error).__name__}: {error}") from error


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
