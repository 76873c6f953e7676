"""Flags of a command line that Hydra does not know."""

from collections.abc import Sequence

from hydra._internal.utils import get_args_parser

from zoo.command.keys import key_meant, key_named
from zoo.errors import UserError
from zoo.registry import did_you_mean


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
