"""The answer to `--help`. Hydra's own has the same words, but copies all its groups once for each of them: a second."""

import re
import string
from collections.abc import Sequence
from pathlib import Path

import yaml

from zoo.command.words import split_words
from zoo.paths import CONF


def help_text(command: str, words: Sequence[str]) -> str:
    """What stands as `hydra.help.template` in `conf/<command>.yaml`, with every group and its options, those of
    `hydra.searchpath=` too, if it is among the words; with the options of one group, named `$data`; or with `$KEYS`."""
    text = (CONF / f"{command}.yaml").read_text(encoding="utf-8")
    _, searchpath, _ = split_words(words)
    groups = _groups([CONF, *map(Path, searchpath)])
    listed = {group: ", ".join(sorted(options)) for group, options in sorted(groups.items())}
    lines = "".join(f"{group}: {options}\n" for group, options in listed.items())
    template = string.Template(yaml.safe_load(text)["hydra"]["help"]["template"])
    return template.safe_substitute(listed, APP_CONFIG_GROUPS=lines, KEYS=_keys(text))


def _keys(text: str) -> str:
    """The keys of a file of `conf/`, as they stand there: with their values and what they are."""
    return "\n".join(re.findall(r"^(?!defaults:|hydra:)\w.*(?:\n +.*)*", text, re.MULTILINE))


def _groups(roots: Sequence[Path]) -> dict[str, set[str]]:
    """Group → its options; neither the groups of Hydra nor files that only others build on (`_base`)."""
    groups: dict[str, set[str]] = {}
    for root in roots:
        for file in root.glob("*/**/*.yaml"):
            group = file.parent.relative_to(root).as_posix()
            if group.split("/")[0] != "hydra" and not file.stem.startswith("_"):
                groups.setdefault(group, set()).add(file.stem)
    return groups
