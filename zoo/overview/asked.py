"""What a command of `python -m zoo` composes of its words, and words that say nothing to it."""

from collections.abc import Sequence
from typing import Any

from zoo.command.compose import compose
from zoo.command.overrides import key_of
from zoo.config import plain
from zoo.errors import UserError
from zoo.plugins import load_plugins


def asked(command: str, words: Sequence[str], reads: Sequence[str]) -> dict[str, Any]:
    """The config of the words, as `python train.py` has it, with its plugins loaded; `reads` are the groups and keys
    that the command reads. Raises UserError for a word that sets another one."""
    node = plain(compose(words))
    read = (*reads, "plugins", "hydra")
    for word in words:
        key = key_of(word).partition("@")[0].replace("/", ".")
        if not any(f"{key}.".startswith(f"{one}.") for one in read):
            raise UserError(f"'{word}' says nothing to {command}, which reads {' and '.join(reads)}; leave it out")
    load_plugins(node["plugins"])
    return node
