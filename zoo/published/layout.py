"""How tensors of ours and of a published layout are made of each other: one table, read in both directions.

A table reads {their name: how it is made of ours}. In both, {i} is a layer, {e} an expert, and * is weight or bias. The
simplest way is a name of ours; the others are the operations below, which may stand in each other.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

Tensors = dict[str, Tensor]


@dataclass(frozen=True)
class Transposed:
    """Theirs is (inputs, outputs), as in the Conv1D of GPT-2; a vector stays as it is."""

    of: "Way"


@dataclass(frozen=True)
class Joined:
    """Several of ours one after the other along the first axis, of whatever sizes."""

    of: "tuple[Way, ...]"


@dataclass(frozen=True)
class Added:
    """Rows of which the first is added to every row of ours, as with the token types of BERT. On the way out they are
    zeros."""

    of: str
    rows: int


Way = str | Transposed | Joined | Added
Table = Mapping[str, Way]


def joined(*ways: Way) -> Joined:
    """Those, one after the other."""
    return Joined(ways)


def inside(theirs: str, ours: str, table: Table) -> Table:
    """The table of a module, where it stands inside a larger one."""
    return {theirs + name: _renamed(way, lambda one: ours + one) for name, way in table.items()}


def bound(table: Table, names: Mapping[str, Tensor]) -> Table:
    """The table with its {i}, {e} and * filled in, for a model that has those parameters."""
    found: dict[str, Way] = {}
    for theirs, way in table.items():
        for leaf in _leaves(way):
            regex = re.escape(leaf).replace(r"\{i\}", r"(?P<i>\d+)").replace(r"\{e\}", r"(?P<e>\d+)")
            pattern = re.compile(regex.replace(r"\*", "(?P<kind>weight|bias)"))
            for match in filter(None, map(pattern.fullmatch, names)):
                fill = partial(_fill, match.groupdict())
                found[fill(theirs)] = _renamed(way, fill)
    return found


def names_of(table: Table) -> set[str]:
    """Our names in a bound table."""
    return {leaf for way in table.values() for leaf in _leaves(way)}


def out(way: Way, ours: Mapping[str, Tensor]) -> Tensor:
    """Their tensor, made of ours."""
    match way:
        case Transposed(of):
            inner = out(of, ours)
            return inner.t() if inner.ndim == 2 else inner
        case Joined(of):
            return torch.cat([out(one, ours) for one in of])
        case Added(of, rows):
            return torch.zeros_like(ours[of][:1]).expand(rows, -1)
    return ours[way]


def back(way: Way, theirs: Tensor, shapes: Mapping[str, Tensor], into: Tensors) -> None:
    """Ours, taken out of their tensor; `shapes` are tensors of the shapes that ours have."""
    match way:
        case Transposed(of):
            back(of, theirs.t() if theirs.ndim == 2 else theirs, shapes, into)
        case Joined(of):
            for one, part in zip(of, theirs.split([len(out(one, shapes)) for one in of]), strict=True):
                back(one, part, shapes, into)
        case Added(of):
            into[of] = into[of] + theirs[0] if of in into else theirs[0].expand_as(shapes[of])
        case str():
            into[way] = into[way] + theirs if way in into else theirs


def _leaves(way: Way) -> Iterator[str]:
    match way:
        case Transposed(of):
            yield from _leaves(of)
        case Joined(of):
            for one in of:
                yield from _leaves(one)
        case Added(of):
            yield of
        case str():
            yield way


def _renamed(way: Way, rename: Callable[[str], str]) -> Way:
    match way:
        case Transposed(of):
            return Transposed(_renamed(of, rename))
        case Joined(of):
            return Joined(tuple(_renamed(one, rename) for one in of))
        case Added(of, rows):
            return Added(rename(of), rows)
    return rename(way)


def _fill(values: Mapping[str, str], name: str) -> str:
    return name.replace("*", values.get("kind", "*")).format(**values)
