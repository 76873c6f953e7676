"""The words of a command line, before Hydra reads them."""

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from zoo.errors import UserError
from zoo.paths import CONF


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


def refuse_absent_folders(words: Sequence[str]) -> None:
    """Raise UserError for a folder of `hydra.searchpath=` that does not exist: Hydra would only warn."""
    for path in split_words(words)[1]:
        if "://" not in path and not Path(path).is_dir():
            raise UserError(f"hydra.searchpath: no folder {path}; give one that is laid out like conf/")


def refuse_several(override: str) -> None:
    """Raise UserError for a list of options where one is chosen: Hydra would lay them over each other, and the last
    would win."""
    key, _, value = override.lstrip("+~").partition("=")
    group = key.partition("@")[0]
    if value.lstrip().startswith("[") and (CONF / group).is_dir():
        each = "run one after the other" if group == "study" else f"to run each: -m {key}={value.strip('[ ]')}"
        raise UserError(f"{override}: {key} takes one option; {each}")


def refuse_added_group(override: str) -> None:
    """Raise UserError for a + before a group, of which an option is always chosen already."""
    key, _, _ = override.lstrip("+").partition("=")
    if override.startswith("+") and (CONF / key.partition("@")[0]).is_dir():
        raise UserError(
            f"{override}: an option of {key} is chosen already; write {override.lstrip('+')}, without the +"
        )
