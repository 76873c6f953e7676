"""What Hydra refuses, in the words of this project: one sentence, with the choices."""

import re
from collections.abc import Iterator

import yaml
from hydra.errors import HydraException

from zoo.families import choosing, group_of, part_at
from zoo.paths import CONF
from zoo.registry import did_you_mean


def refusal(error: BaseException) -> str | None:
    """What Hydra refuses, in our words; None when the error is none of Hydra's refusals."""
    if isinstance(error, HydraException):
        return translate(str(error))
    if isinstance(error, ValueError) and "Config group override must be a string" in str(error):
        return "null is no option of a group; leave the override out to keep what the model chooses"
    return None


def translate(message: str) -> str:
    """Hydra's refusal of an override, as one sentence with the choices."""
    if found := re.search(r"Could not find '(.+)/([^/]+)'\n\nAvailable options in '.+':\n((?:\t.+\n?)+)", message):
        group, option, listed = found.groups()
        choices = [name for name in listed.split() if not name.startswith("_")]
        return f"no {group} '{option}'{did_you_mean(option, choices)}; choose from {', '.join(choices)}"
    if found := re.search(r"Could not override '([^']+)'\.\nTo append to your config use", message):
        key, keys = found.group(1), _keys()
        if key in keys:
            return f"no key '{key}' in the options chosen here; --cfg job shows the keys there are"
        if having := _options_with(key):
            return f"no key '{key}' in the options chosen here; {choosing(_parent(key))}={having} has it"
        groups = {group.rpartition("/")[2]: group for group in _groups()}
        hint = f" (did you mean {groups[key]}?)" if key in groups else did_you_mean(key, keys)
        return f"no key '{key}'{hint}; `python train.py --cfg job` shows all keys"
    if found := re.search(r"Could not override '([^']+)'", message):
        group, _, place = found.group(1).partition("@")
        if place and group in _groups():
            return f"{place} is nothing that the options chosen here take from {group}; `--cfg job` shows what there is"
        return f"no group '{group}'{did_you_mean(group, _groups())}; choose from {', '.join(_groups())}"
    if "Error parsing override" in message or "mismatched input" in message:
        line = message.strip().splitlines()[0]
        if "expecting ID" in message:
            return f"{line.rstrip()} — choose a group as in model/norm=rmsnorm, set a value as in model.norm.eps=1e-6"
        return f"{line.rstrip()} — quote special characters twice, as in 'data.path=\"my file, v=2.txt\"'"
    return " ".join(message.split())


def _keys() -> list[str]:
    """Every key of the default config, dotted."""
    from omegaconf import OmegaConf

    from zoo.compose import compose

    def walk(node: object, prefix: str) -> Iterator[str]:
        if isinstance(node, dict):
            for key, value in node.items():
                yield from walk(value, f"{prefix}{key}.")
        yield prefix[:-1]

    keys = [key for key in walk(OmegaConf.to_container(compose([])), "") if key]
    return [key for key in keys if not (key.endswith(".name") and part_at(key))]


def _parent(key: str) -> str:
    return key.rpartition(".")[0]


def _options_with(key: str) -> str:
    """The options that could stand where the key is said to be, and that set it."""
    part, name = part_at(_parent(key)), key.rpartition(".")[2]
    if part is None:
        return ""
    files = sorted((CONF / group_of(part)).glob("[!_]*.yaml"))
    return " or ".join(file.stem for file in files if name in (yaml.safe_load(file.read_text("utf-8")) or {}))


def _groups() -> list[str]:
    return sorted(str(path.relative_to(CONF)) for path in CONF.rglob("*") if path.is_dir())
