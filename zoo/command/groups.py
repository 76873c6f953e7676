"""Groups and their options, and words that choose none of them."""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import yaml

from zoo.command.words import split_words
from zoo.errors import UserError
from zoo.families import PARTS, choosing, group_of
from zoo.paths import CONF

NUMBER = re.compile(r"true|false|[-+]?(\d[\d._]*(e[-+]?\d+)?|inf|nan)", re.IGNORECASE)
"""What Hydra does not read as text, and so never as the name of an option."""


@cache
def groups_of(command: str) -> tuple[str, ...]:
    """The groups that `conf/<command>.yaml` chooses from, and those inside them."""
    defaults = yaml.safe_load((CONF / f"{command}.yaml").read_text(encoding="utf-8"))["defaults"]
    chosen = {str(group) for entry in defaults if isinstance(entry, dict) for group in entry}
    folders = (path.relative_to(CONF) for path in CONF.rglob("*") if path.is_dir())
    return tuple(sorted(path.as_posix() for path in folders if path.parts[0] in chosen))


def options_of(group: str, words: Sequence[str] = ()) -> list[str]:
    """The names of its options, those of `hydra.searchpath=` too if it is among the words; no files that only others
    build on (`_base`)."""
    roots = [CONF, *map(Path, split_words(words)[1])]
    return sorted({file.stem for root in roots for file in (root / group).glob("[!_]*.yaml")})


def option_meant(word: str, command: str, words: Sequence[str] = ()) -> str:
    """' (did you mean model/position=rope?)' of `rope`: the groups that have an option of that name, at most three;
    else nothing. `none` is something else in each group."""
    groups = () if word == "none" else groups_of(command)
    found = [f"{group}={word}" for group in groups if word in options_of(group, words)]
    return f" (did you mean {' or '.join(found[:3])}?)" if found else ""


def refuse_no_option(override: str, command: str, words: Sequence[str]) -> None:
    """Raise UserError for an override, one of the words of a command, that gives a group, or the place of a part, what
    is no name of an option."""
    key, equals, value = override.lstrip("+").partition("=")
    group, value = key.partition("@")[0], value.strip()
    if equals and key in PARTS and "." in key:
        _refuse_in_place(override, key, value, words)
    elif equals and (not value or value[0] in "{[" or NUMBER.fullmatch(value)) and group in groups_of(command):
        refuse_several(override)
        choices = ", ".join(options_of(group, words))
        if not value:
            raise UserError(f"{override} is empty; choose from {choices}")
        if value[0] == "{":
            raise UserError(
                f"{override}: values are set by their own keys, and {key}= takes an option; choose from {choices}"
            )
        raise UserError(f"no {group} '{value}'; choose from {choices}")


def _refuse_in_place(override: str, key: str, value: str, words: Sequence[str]) -> None:
    """The same for the dotted key of a part: what stands there is chosen by its group. A reference to another key may
    stand there, and null where a model may do without."""
    if "${" in value or (key == "model.cross" and value == "null"):
        return
    choices = options_of(group_of(key), words)
    meant = value if value in choices else f"… with one of {', '.join(choices)}"
    raise UserError(f"{override} chooses nothing; write {choosing(key)}={meant}")


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
