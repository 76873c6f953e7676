"""What Hydra refuses, in the words of this project: one sentence, with the choices."""

import importlib
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import yaml
from hydra.errors import HydraException
from omegaconf.errors import OmegaConfBaseException

from zoo.command.groups import groups_of, option_meant, refuse_added_group, refuse_several
from zoo.command.keys import command_with, key_meant, key_named, keys_of, values_chosen
from zoo.command.unread import fault, reads
from zoo.command.words import split_words
from zoo.errors import UserError
from zoo.families import FAMILY_PACKAGES, GROUPS, choosing, group_of, part_at
from zoo.literal import as_word
from zoo.paths import CONF
from zoo.plugins import load_plugins
from zoo.registry import FAMILIES, did_you_mean

TWICE = ("Multiple values for ", "appears more than once in the final defaults list", "force-add of config groups")
"""How Hydra says that a group would have two options."""


def refusal(error: BaseException, command: str, words: Sequence[str]) -> str | None:
    """What Hydra refuses of the `words` of a command, in our words; None when the error is none of Hydra's refusals.
    `command` is that of its config, as in `conf/train.yaml`."""
    if isinstance(error, HydraException):
        try:
            return translate(str(error), command, words)
        except UserError as other:  # a plugin that is none, or what is told of a word here as elsewhere
            return str(other)
    if isinstance(error, OmegaConfBaseException):
        return f"the config does not resolve: {str(error).splitlines()[0]}"
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        mark = error.problem_mark
        return f"{mark.name}, line {mark.line + 1} is no YAML: {error.problem}"
    if isinstance(error, ValueError) and "Config group override must be a string" in str(error):
        what = "null" if str(error).endswith("NoneType") else "a number or a truth value"
        return f"{what} is no option of a group; leave the override out to keep what the model chooses"
    return None


def translate(message: str, command: str, words: Sequence[str]) -> str:
    """Hydra's refusal of an override, as one sentence with the choices."""
    if found := re.search(r"Could not find '(.+)/([^/]*)'\n\nAvailable options in '.+':\n((?:\t.+\n?)+)", message):
        group, option, listed = found.groups()
        if module := _registering(group, option, words):
            return (
                f"{option} is registered by {module}, but there is no {group}/{option}.yaml; give the folder that has"
                " it, laid out like conf/, by 'hydra.searchpath=[folder]'"
            )
        choices = [name for name in listed.split() if not name.startswith("_")]
        meant = did_you_mean(option, choices) or option_meant(option, command, words)
        return f"no {group} '{option}'{meant}; choose from {', '.join(choices)}{'' if meant else _of_own(group, words)}"
    if found := re.search(r"Could not override '([^']+)'\.\nTo append to your config use", message):
        return _no_key(found.group(1), command, words)
    if found := re.search(r"Could not override '([^']+)'", message):
        return _no_group(found.group(1), command)
    if found := re.search(r"Could not delete from config\. The value of '([^']+)' is (.*) and not (.*)\.", message):
        key, value, given = found.groups()
        return f"'~{key}={given}' takes nothing away: {key} is {value}; leave the word out"
    if found := re.search(r"Could not delete (?:from config\. )?'([^'=]+)(=[^']*)?'", message):
        return _not_removed(found[1], found[2] or "", command, words)
    if found := re.search(r"Error merging override (~.*)", message):
        return f"{found[1].lstrip('~').partition('=')[0]} cannot be left out of a config; set another value"
    if found := re.search(r"(?:value for argument|Sweep parameters) '((.+?)=.+)'(?:\n|$| requires)", message):
        word, key = found.group(1), found.group(2)
        listed = "" if key in groups_of(command) else f", or write a list as {key}=[a,b]"
        value = word[len(key) + 1 :]
        a_path = listed and ("/" in value or Path(value).exists())
        quoted = f"; the comma of a path is quoted twice, as in {as_word(key, value)}" if a_path else ""
        return f"'{word}' has several values; add -m to sweep over them{listed}{quoted}"
    if any(
        words in message
        for words in ("Error parsing override", "mismatched input", "LexerNoViableAlt", "no viable alternative")
    ):
        return _unreadable(message.strip().splitlines()[0].rstrip(), message, command, words)
    if found := re.search(r"Error merging override \+*((.+?)=.*)", message):
        return f"{found[1]} does not fit: what stands at {found[2]} is of another kind; `--cfg job` shows it"
    if any(said in message for said in TWICE):
        for word in words:
            refuse_several(word)
            refuse_added_group(word)
    return " ".join(message.split())


def _registering(group: str, option: str, words: Sequence[str]) -> str:
    """The module of `plugins=` that registers that option of the group; empty when none does. Raises UserError for a
    plugin that cannot be imported."""
    plugins, package = split_words(words)[0], FAMILY_PACKAGES.get(group.rpartition("/")[2])
    if not plugins or package is None:
        return ""
    importlib.import_module(package)
    load_plugins(plugins)
    registry = FAMILIES[group.rpartition("/")[2]]
    return registry.get(option).__module__ if option in registry.names() else ""


def _of_own(group: str, words: Sequence[str]) -> str:
    """How a part of the user's own is brought in, where the words bring in none."""
    if group not in GROUPS or split_words(words)[0]:
        return ""
    return f" (an option of your own needs plugins=[its_module], and hydra.searchpath=[folder] with {group}/)"


def _no_key(key: str, command: str, words: Sequence[str]) -> str:
    keys = keys_of(command)
    if inside := [one for one in keys if _parent(one) == key]:
        return f"no such key in {key}; its keys are set by themselves: {', '.join(inside)}"
    if having := _options_with(key):
        return f"no key '{key}' in the options chosen here; {choosing(_parent(key))}={having} has it"
    if key in keys:
        return f"no key '{key}' in the options chosen here; `python {command}.py --cfg job` shows the keys there are"
    study = next((word for word in words if word.startswith("study=")), None)
    if study and key in ("variant", "variants"):
        return f"no key '{key}': {study} runs all its variants; dry_run=true lists them"
    named = key_named(key, command, words)
    if key.split(".")[0] in _of_the_run(command):
        return f"'{key}' is that of the run and cannot be changed here{named}"
    other = command_with(key, command)
    if other and not named:
        return f"no key '{key}' here; it is one of `python {other}.py`"
    return f"no key '{key}'{key_meant(key, command, words)}; `python {command}.py --cfg job` shows all keys"


def _not_removed(key: str, value: str, command: str, words: Sequence[str]) -> str:
    """Of a word with a ~ in front, which takes a key or the option of a group away."""
    if key in groups_of(command):
        what = "that option is not chosen" if value else "none of its options is chosen"
        return f"'~{key}{value}' takes nothing away: {what}; leave the word out"
    chosen = values_chosen(command, words)
    if key not in chosen:
        return _no_key(key, command, words)
    what = "has no value" if chosen[key] == "???" else "is null already"
    return f"'~{key}{value}' takes nothing away: {key} {what}; leave the word out"


def _no_group(found: str, command: str) -> str:
    group, _, place = found.partition("@")
    if group.split("/")[0] in _of_the_run(command):
        return f"{command} takes the model and how it was trained from the run; {group} cannot be changed here"
    groups = groups_of(command)
    if place and group in groups:
        return f"{place} is nothing that the options chosen here take from {group}; `--cfg job` shows what there is"
    return f"no group '{group}'{did_you_mean(group, groups)}; choose from {', '.join(groups)}"


def _of_the_run(command: str) -> set[str]:
    """The groups that are chosen in training alone, where the command is none that trains."""
    return {group.split("/")[0] for group in groups_of("train")} - set(groups_of(command))


def _unreadable(line: str, message: str, command: str, words: Sequence[str]) -> str:
    if "expecting ID" in message:
        return f"{line} — choose a group as in model/norm=rmsnorm, set a value as in model.norm.eps=1e-6"
    example = "generate.seed=1" if command == "evaluate" else "budget.steps=100"
    if (found := re.search(r"override '([^=']+)'", line)) and "=" not in found.group(1):
        word = found.group(1)
        key = "study" if (Path(word) / "study.json").exists() else "run"
        a_run = f" (did you mean {key}={word}?)" if command == "evaluate" else ""
        hint = option_meant(word, command, words) or a_run
        return f"'{word}' sets nothing{hint}; a value is set by key=value, as in {example}"
    unread = [word for word in words if "=" in word and not word.startswith("-") and not reads(word)]
    what = f"the command line cannot be read at {unread[0]}" if unread else line
    key, _, value = (unread or ["data.path=my file, v=2.txt"])[0].partition("=")
    quoted = as_word(key, value)
    if problem := fault(f"{key}={value}"):
        text = problem.startswith(("its ' is", 'its " is'))
        return f"{what}: {problem}" + (f"; a text is quoted twice, as in {quoted}" if text else "")
    if re.fullmatch(r"\[[^\[\]{}'\"]+\]", value):
        entries = ",".join(f'"{one.strip()}"' for one in value[1:-1].split(","))
        return f"{what} — quote each entry, as in {shlex.quote(f'{key}=[{entries}]')}"
    return f"{what} — quote special characters twice, as in {quoted}"


def _parent(key: str) -> str:
    return key.rpartition(".")[0]


def _options_with(key: str) -> str:
    """The options that could stand where the key is said to be, and that set it."""
    part, name = part_at(_parent(key)), key.rpartition(".")[2]
    if part is None:
        return ""
    files = sorted((CONF / group_of(part)).glob("[!_]*.yaml"))
    return " or ".join(file.stem for file in files if name in (yaml.safe_load(file.read_text("utf-8")) or {}))
