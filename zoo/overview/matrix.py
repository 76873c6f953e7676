"""Which options meet, and why not: drawn from the same declarations that the build refuses by."""

from collections.abc import Callable, Sequence
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from zoo.ability import Ability, missing
from zoo.command.words import split_words
from zoo.config import refuse_topology
from zoo.data.source import sources
from zoo.errors import UserError
from zoo.ffn import FFN, ffns
from zoo.mixer import Mixer, mixers
from zoo.objective import objectives
from zoo.overview.catalogue import catalogue
from zoo.plugins import load_plugins
from zoo.position import positions
from zoo.terminal import NARROW, show
from zoo.topology import topologies
from zoo.training.feed import unread

Reason = Callable[[str, str], str | None]
"""Why (row, column) cannot be combined; None when it can."""


def print_matrix(words: Sequence[str]) -> None:
    """Print a table for each pair of axes that can refuse each other, and the reasons below. Options of one class share
    a row, since it is the class that declares."""
    plugins, searchpath, others = split_words(words)
    if others:
        raise UserError(f"matrix takes plugins=[...] and hydra.searchpath=[...] and no other word, got '{others[0]}'")
    load_plugins(plugins)
    options, patterns = _options(plugins, [Path(path) for path in searchpath])
    for title, rows, columns, reason in tables():
        down, across = (options.get(axis, {}) for axis in title.split(" × "))
        table = Table(title=title, title_justify="left", box=None, header_style="bold", pad_edge=False)
        table.add_column("")
        for column in columns:
            table.add_column(across.get(column, column), justify="center")
        reasons = {(row, column): reason(row, column) for row in rows for column in columns}
        for row in rows:
            table.add_row(down.get(row, row), *("—" if reasons[row, column] else "yes" for column in columns))
        show(table, width=NARROW)
        for (row, column), why in reasons.items():
            if why:
                show(escape(f"  {down.get(row, row)} × {across.get(column, column)}: {why}"), width=NARROW)
        show("")
    for pattern in patterns:
        show(escape(f"{pattern} is a pattern over the layers: it meets what each of its entries meets"), width=NARROW)


def _options(plugins: Sequence[str], searchpath: Sequence[Path]) -> tuple[dict[str, dict[str, str]], list[str]]:
    """The options that configure each class, by family and the name it is registered by; and the patterns."""
    named: dict[str, dict[str, list[str]]] = {}
    patterns = []
    for one in catalogue(plugins, searchpath):
        if one.part is None:
            patterns.append(f"{one.family} {one.option}")
        else:
            named.setdefault(one.family, {}).setdefault(one.part.name, []).append(one.option)
    return {family: {name: ", ".join(of) for name, of in found.items()} for family, found in named.items()}, patterns


def tables() -> list[tuple[str, list[str], list[str], Reason]]:
    """(title, rows, columns, reason) of every table."""
    return [
        ("mixer × topology", mixers.names(), topologies.names(), mixer_topology),
        ("ffn × topology", ffns.names(), topologies.names(), ffn_topology),
        ("mixer × position", mixers.names(), positions.names(), mixer_position),
        ("objective × topology", objectives.names(), topologies.names(), objective_topology),
        ("objective × kind of data", objectives.names(), _kinds(), objective_kind),
    ]


def mixer_topology(mixer: str, topology: str) -> str | None:
    """A topology needs abilities of every mixer in it; the cross-mixer of an encoder–decoder can be another one."""
    return _lacks(mixers.get(mixer), topologies.get(topology).needs)


def ffn_topology(ffn: str, topology: str) -> str | None:
    """The same of an ffn: one that looks at other positions may lack something."""
    return _lacks(ffns.get(ffn), topologies.get(topology).needs)


def mixer_position(mixer: str, position: str) -> str | None:
    """A position scheme needs a way to reach the mixer."""
    return _lacks(mixers.get(mixer), positions.get(position).needs)


def objective_topology(objective: str, topology: str) -> str | None:
    """An objective serves the topologies it makes sense for."""
    return refuse_topology(objective, topology)


def objective_kind(objective: str, kind: str) -> str | None:
    """An objective is made of some kinds of data only."""
    return unread(objectives.get(objective), kind)


def _kinds() -> list[str]:
    """Those of all sources."""
    return sorted({sources.get(name).kind for name in sources.names()})


def _lacks(part: type[Mixer | FFN], needs: frozenset[Ability]) -> str | None:
    lacking = missing(part, needs)
    return f"it cannot {' or '.join(lacking)}" if lacking else None
