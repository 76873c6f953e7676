"""Words that Hydra cannot read, and what is wrong with them."""

import re

from hydra.errors import HydraException

from zoo.command.brackets import unmatched


def reads(word: str) -> bool:
    """Whether the word is an override."""
    from hydra.core.override_parser.overrides_parser import OverridesParser

    try:
        OverridesParser.create().parse_override(word)
    except HydraException:
        return False
    return True


def fault(word: str) -> str:
    """What is wrong with a key=value that cannot be read, where quotes would not help; empty where they would."""
    key, _, value = word.partition("=")
    if not reads(f"{key}=1"):
        return f"'{key}' is no key; a value is set by key=value"
    if problem := unmatched(value):
        return problem
    listed = re.fullmatch(r"\[([^\[\]{}'\"]+)\]", value.strip())
    return "its list has an empty entry" if listed and not all(map(str.strip, listed[1].split(","))) else ""
