"""The words of a command line, before Hydra reads them."""

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from zoo.errors import UserError


def in_home(words: Iterable[str]) -> list[str]:
    """The words, with ~ at the beginning of a value, or of one in a list, as the home folder that a shell would put
    there: it does so in front of a word only, and Hydra cannot read it."""
    return [
        re.sub(r"(?<=[=,\[])~[\w.-]*(?=[/,\]]|$)", lambda found: os.path.expanduser(found[0]), one) for one in words
    ]


def split_words(words: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """Plugins, config folders, and the other words."""
    plugins, searchpath, others = [], [], []
    for word in words:
        key, found, value = word.partition("=")
        values = [one.strip(" '\"") for one in value.strip("[]").split(",") if one]
        if found and key == "plugins":
            plugins += values
        elif found and key == "hydra.searchpath":
            searchpath += [one.removeprefix("file://") for one in values]
        else:
            others.append(word)
    return plugins, searchpath, others


def refuse_two_values(words: Sequence[str]) -> None:
    """Raise UserError for a key that two words give different values: Hydra would take the last and say nothing. ++key
    is the same key; words with one + or a ~ are left to it."""
    given: dict[str, str] = {}
    for word in words:
        key, equals, _ = word.removeprefix("++").partition("=")
        if equals and re.match(r"\w", key) and given.setdefault(key, word) != word:
            plugins, folders, _ = split_words([one.removeprefix("++") for one in (given[key], word)])
            listed = ",".join(dict.fromkeys(plugins or folders))
            advice = f"write one list, {key}=[{listed}]" if listed else "leave one of them out"
            raise UserError(f"{given[key]} and {word} set {key} twice; {advice}")


def refuse_absent_folders(words: Sequence[str]) -> None:
    """Raise UserError for a folder of `hydra.searchpath=` that does not exist: Hydra would only warn."""
    for path in split_words(words)[1]:
        if "://" not in path and not Path(path).is_dir():
            raise UserError(f"hydra.searchpath: no folder {path}; give one that is laid out like conf/")
