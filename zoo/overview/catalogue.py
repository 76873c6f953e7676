"""Every option there is, read from the files themselves: nothing is imported, so it answers at once."""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

import yaml

from zoo.errors import UserError
from zoo.families import AXES, FAMILY_PACKAGES
from zoo.paths import CONF
from zoo.plugins import plugin_spec


@dataclass(frozen=True)
class Registered:
    """A class that registers itself as an option."""

    name: str
    file: Path
    line: int
    paper: str


@dataclass(frozen=True)
class Entry:
    """An option file, and the class that it configures."""

    family: str
    option: str
    config: Path
    summary: str
    part: Registered | None
    """None for a pattern, which consists of other options."""

    @property
    def paper(self) -> str:
        """What it follows: its class says it or, of a pattern, its file."""
        return _field(_opening(self.config), "paper") if self.part is None else self.part.paper


def catalogue(plugins: Sequence[str] = (), searchpath: Sequence[Path] = ()) -> list[Entry]:
    """All options by family, those of plugins and of further config folders too."""
    entries = []
    for family, package in FAMILY_PACKAGES.items():
        parts = {part.name: part for part in _registered(family, package, plugins)}
        group = f"model/{family}" if family in AXES else family
        for root in (CONF, *searchpath):
            for config in sorted((root / group).glob("*.yaml")):
                name = _part_name(config)
                entries.append(Entry(family, config.stem, config, _comment(config), parts.get(name)))
    return entries


def _part_name(config: Path) -> str:
    """The `name` an option file sets, itself or through the files that its defaults list names."""
    node = yaml.safe_load(config.read_text(encoding="utf-8")) or {}
    if "name" in node:
        return str(node["name"])
    bases = [one for one in node.get("defaults", []) if isinstance(one, str) and one != "_self_"]
    return _part_name(config.with_name(f"{bases[0]}.yaml")) if bases else config.stem


def _comment(config: Path) -> str:
    """The first comment line of an option file."""
    lines = config.read_text(encoding="utf-8").splitlines()
    comments = [line.lstrip("# ") for line in lines if line.startswith("# ") and "@package" not in line]
    return comments[0] if comments else ""


def _opening(config: Path) -> str:
    """The comment that an option file begins with."""
    lines = config.read_text(encoding="utf-8").splitlines()
    return "\n".join(line.removeprefix("#").removeprefix(" ") for line in takewhile(lambda one: one[:1] == "#", lines))


def _registered(family: str, package: str, plugins: Sequence[str]) -> Iterator[Registered]:
    for file in [file for module in (package, *plugins) for file in _files(module)]:
        try:
            tree = ast.parse(file.read_text(encoding="utf-8"))
        except (OSError, SyntaxError, ValueError) as error:
            raise UserError(f"{file} cannot be read as Python: {error}") from error
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                for name in _names(node, family):
                    doc = ast.get_docstring(node) or ""
                    yield Registered(name, file, node.lineno, _field(doc, "paper"))


def _names(node: ast.ClassDef, family: str) -> Iterator[str]:
    """Names under which the class registers itself: `@norms.register("rmsnorm")`, the variable beginning with the
    family's name."""
    for decorator in node.decorator_list:
        match decorator:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=variable), attr="register"), args=[ast.Constant(value=str(name))]
            ) if _belongs(variable, family):
                yield name


def _belongs(variable: str, family: str) -> bool:
    return variable == PLURALS.get(family, f"{family}s")


PLURALS = {"topology": "topologies", "data": "sources"}
"""Registries whose variable is not the family's name with an s."""


def _files(module: str) -> list[Path]:
    spec = plugin_spec(module)
    if spec.origin is None or not spec.has_location:
        return []
    if spec.submodule_search_locations:
        return sorted(Path(spec.origin).parent.glob("*.py"))
    return [Path(spec.origin)]


def _field(doc: str, name: str) -> str:
    """The `paper:` or `differs:` line of a docstring, with its continuation lines."""
    found = re.search(rf"^{name}:\s*(.+?)(?=^\S+:|\Z)", doc, re.MULTILINE | re.DOTALL)
    return " ".join(found.group(1).split()) if found else ""
