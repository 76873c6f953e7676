"""Imports run one way: no package needs one that needs it, and what design.md forbids is forbidden."""

import ast
from collections.abc import Iterator

import pytest

from tests.commands.conftest import ROOT
from zoo.families import AXES

MODULES = {".".join(file.relative_to(ROOT).with_suffix("").parts): file for file in (ROOT / "zoo").rglob("*.py")}
MODULES = {name.removesuffix(".__init__"): file for name, file in MODULES.items()}


def imported(node: ast.AST) -> Iterator[str]:
    """The modules that are imported inside, also by a function, but those that only a type checker reads."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                continue
            case ast.ImportFrom(module=str(module), names=names):
                yield from (f"{module}.{one.name}" for one in names)
                yield module
            case ast.Import(names=names):
                yield from (one.name for one in names)
        yield from imported(child)


def unit(module: str) -> str:
    """The folder or file of zoo/ that a module is, or is in."""
    return module.split(".")[1]


def needs() -> dict[str, dict[str, str]]:
    """Each unit with those that it imports, and where it does so."""
    found: dict[str, dict[str, str]] = {unit(name): {} for name in MODULES if name != "zoo"}
    for name, file in MODULES.items():
        for other in imported(ast.parse(file.read_text(encoding="utf-8"))) if name != "zoo" else ():
            if other.startswith("zoo.") and other in MODULES and unit(other) != unit(name):
                found[unit(name)].setdefault(unit(other), f"{name} imports {other}")
    return found


NEEDS = needs()


def below(one: str) -> set[str]:
    """All that a unit imports, and what that imports."""
    found: set[str] = set()
    todo = [one]
    while todo:
        new = NEEDS[todo.pop()].keys() - found
        found |= new
        todo += new
    return found


def test_no_package_is_imported_by_what_it_imports() -> None:
    upwards = [where for one, others in NEEDS.items() for other, where in others.items() if one in below(other)]
    assert not upwards


ABOVE = {"experiment", "config", "command", "training", "inference", "matching", "published", "jobs", "sweep", "study"}


@pytest.mark.parametrize("part", [*AXES, "model"])
def test_a_part_never_sees_an_experiment(part: str) -> None:
    assert not below(part) & ABOVE


@pytest.mark.parametrize("package", ["training", "inference", "data", "objective"])
def test_what_computes_never_reads_a_config(package: str) -> None:
    assert not below(package) & {"config", "command", "matching", "jobs", "sweep", "study"}


def test_a_model_is_matched_without_a_command_line() -> None:
    assert not below("matching") & {"command", "jobs", "sweep", "study"}
