"""Flags of a command line that Hydra does not know, or that do not go together."""

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from hydra._internal.utils import get_args_parser

from zoo.command.keys import key_meant, key_named
from zoo.errors import UserError
from zoo.registry import did_you_mean

COMMANDS = ("run", "multirun", "cfg", "info", "shell_completion")
"""The flags that each say what to do."""
OF_CFG = ("resolve", "package")
"""Those that say how `--cfg` does it."""

SHELLS = ("bash", "fish", "zsh")


def refuse_flags(said: Namespace) -> None:
    """Raise UserError for flags of Hydra's that contradict each other, do nothing, or lack what they need."""
    first, *others = [_flag(name) for name in COMMANDS if getattr(said, name)] or ["--run"]
    if others:
        raise UserError(f"{first} and {others[0]} ask for two different things; give one of them")
    for name in OF_CFG:
        if getattr(said, name) and not (said.cfg or said.help):
            raise UserError(f"{_flag(name)} does nothing without --cfg; give both, or leave it out")
    file = said.experimental_rerun
    if file and not Path(file).is_file():
        raise UserError(f"--experimental-rerun: no file {file}")
    asked = [word.partition("=") for word in said.overrides]
    wanted = [shell for what, _, shell in asked if what in ("install", "uninstall", "query")]
    if said.shell_completion and (len(wanted) != 1 or wanted[0] not in SHELLS):
        raise UserError(f"--shell-completion needs install= or uninstall=, with one of {', '.join(SHELLS)}")


def _flag(name: str) -> str:
    return "-m" if name == "multirun" else f"--{name.replace('_', '-')}"


def refuse_unknown_flags(words: Sequence[str], command: str) -> None:
    """Raise UserError for a flag that is none of Hydra's: a value is set by key=value."""
    known = get_args_parser()._option_string_actions
    for word in words:
        flag = word.partition("=")[0]
        if not flag.startswith("--") or any(one.startswith(flag) for one in known):
            continue
        key = flag.lstrip("-").replace("-", "_")
        hint = key_named(key, command) or did_you_mean(flag, known) or key_meant(key, command)
        example = "generate.seed=1" if command == "evaluate" else "budget.steps=100"
        raise UserError(f"no flag '{flag}'{hint}; a value is set by key=value, as in {example}")
