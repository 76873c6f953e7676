"""What a config chose: an option of a family with its values, or a pattern of options over the layers."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from zoo.errors import HERE, PartError, UserError


@dataclass(frozen=True)
class Option:
    """One option of a family, with the values for the keyword-only half of its constructor."""

    name: str
    values: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    where: str = field(default="", compare=False)
    """The key at which it stands in a config."""

    @contextmanager
    def placing(self) -> Iterator[None]:
        """What its part refuses in here is told with the keys that a user can set."""
        try:
            yield
        except PartError as error:
            if not self.where:
                raise
            raise UserError(error.args[0].replace(HERE, self.where)) from None

    def at(self, layer: int) -> "Option":
        """The option of that layer: the same one in every layer."""
        return self

    def key(self, layer: int) -> str:
        """The key of that layer's option in `distinct`."""
        return self.name

    @property
    def distinct(self) -> Mapping[str, "Option"]:
        """Each option once, by key."""
        return {self.name: self}


@dataclass(frozen=True)
class Pattern:
    """Options that repeat over the layers, e.g. local, local, global, local, local, global, ..."""

    layers: tuple[str, ...]
    distinct: Mapping[str, Option]

    def at(self, layer: int) -> Option:
        """The option of that layer."""
        return self.distinct[self.key(layer)]

    def key(self, layer: int) -> str:
        """The key of that layer's option in `distinct`."""
        return self.layers[layer % len(self.layers)]


Choice = Option | Pattern
