"""Names to classes. A family of parts is a folder; an option of it is a file in that folder that registers a class.

    norms = Registry("norm", Norm, __name__)         # in zoo/norm/__init__.py

    @norms.register("rmsnorm")                       # in zoo/norm/rmsnorm.py
    class RMSNorm(Norm): ...

Nothing else has to be edited: the first question asked of a registry imports every module of its folder.
A plugin registers into the same registries by being imported.
"""

import difflib
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

from zoo.errors import UserError
from zoo.option import Option

T = TypeVar("T")

FAMILIES: dict[str, "Registry[Any]"] = {}
"""Every registry made so far, by family name."""


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """' (did you mean x?)' when a choice is close to the word, else nothing."""
    close = difflib.get_close_matches(str(word), list(choices), n=1, cutoff=0.6)
    return f" (did you mean {close[0]}?)" if close else ""


class Registry(Generic[T]):
    """The options of one family. `contract` is the abstract class that every option implements."""

    def __init__(self, family: str, contract: type[T], package: str):
        self.family = family
        self.contract = contract
        self.package = package
        self._classes: dict[str, type[T]] = {}
        FAMILIES[family] = self

    def register(self, name: str) -> Callable[[type], type]:
        """Class decorator; a name taken twice is an error that names both files."""

        def add(cls: type) -> type:
            taken = self._classes.get(name)
            if taken is not None and (taken.__module__, taken.__qualname__) != (cls.__module__, cls.__qualname__):
                files = ", ".join(inspect.getfile(one) for one in (taken, cls))
                raise UserError(f"{self.family} '{name}' is registered twice: {files}")
            if not issubclass(cls, self.contract):
                raise UserError(
                    f"{self.family} '{name}' ({cls.__qualname__}) must derive from {self.contract.__name__}"
                )
            self._classes[name] = cls
            return cls

        return add

    def registered(self) -> list[type[T]]:
        """The classes that are there so far, without looking for more."""
        return list(self._classes.values())

    def names_of(self, cls: type) -> list[str]:
        """The names that the class has so far."""
        return [name for name, one in self._classes.items() if one is cls]

    def names(self) -> list[str]:
        """All names, sorted."""
        self._discover()
        return sorted(self._classes)

    def get(self, name: str) -> type[T]:
        """The class of that name. Raises UserError with the choices when there is none."""
        self._discover()
        if name not in self._classes:
            choices = sorted(self._classes)
            raise UserError(
                f"no {self.family} '{name}'{did_you_mean(name, choices)}; choose from {', '.join(choices)}"
                " (an option of your own is registered by plugins=[its_module])"
            )
        return self._classes[name]

    def build(self, option: Option, *supplied: Any) -> T:
        """Construct the option: `supplied` are the positional arguments of the family, the option has the rest."""
        with option.placing():
            return self.get(option.name)(*supplied, **option.values)

    def _discover(self) -> None:
        package = importlib.import_module(self.package)
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{self.package}.{module.name}")
