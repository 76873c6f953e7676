"""Where a class comes from; of a plugin also what its files say, since edited code is another part."""

import ast
import hashlib
import importlib.util
import sys
import sysconfig
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from weakref import WeakKeyDictionary

OWN = __name__.partition(".")[0]


def origin(cls: type) -> list[str | None]:
    """What tells a class from every other one, and from what it was before an edit, as plain JSON."""
    return [cls.__module__, cls.__qualname__, code_of(cls)]


def of_zoo(cls: type) -> bool:
    """Whether a class is the zoo's own, and no plugin's."""
    return cls.__module__.partition(".")[0] == OWN


def says(cls: type, name: str) -> bool:
    """Whether what the class has by that name was said of its own constructor: a plugin may inherit it from a class
    whose keys say something else."""
    return of_zoo(cls) or name in vars(cls)


_codes: WeakKeyDictionary[type, str | None] = WeakKeyDictionary()


def code_of(cls: type) -> str | None:
    """A hash of the file of a plugin's class and of the user's own files that this one imports, be it only when it
    acts. None for a class of the zoo, whose commit is recorded with a run, and for one without a file, as in a
    notebook. It is read once: a process goes on with what it has imported, whatever becomes of the files."""
    if cls not in _codes:
        _codes[cls] = _hash(cls)
    return _codes[cls]


def _hash(cls: type) -> str | None:
    files: dict[str, bytes] = {}
    _read(cls.__module__, cls.__module__.partition(".")[0], files)
    if not files:
        return None
    facts = repr([(name, hashlib.sha256(text).hexdigest()) for name, text in sorted(files.items())])
    return hashlib.sha256(facts.encode()).hexdigest()[:32]


def modules_of(name: str) -> set[str]:
    """An imported module, and those of the user's own that it imports."""
    files: dict[str, bytes] = {}
    _read(name, name.partition(".")[0], files)
    return {name, *files}


def _read(name: str, top: str, files: dict[str, bytes]) -> None:
    """Add the file of a module, of the packages that it is in, which are run first, and of what it imports, to `files`:
    those of the package `top`, and others that are no library."""
    package = name.partition(".")[0]
    if name in files or package == OWN:
        return
    if package != name:
        _read(name.rpartition(".")[0], top, files)
    file, inside = _place(name)
    if file is None or (package != top and _in_library(Path(file))):
        return
    try:
        files[name] = Path(file).read_bytes()
    except OSError:  # inside a zip archive
        return
    if file.endswith(".py"):
        for one in _imported(files[name], inside):
            _read(one, top, files)


def _place(name: str) -> tuple[str | None, str | None]:
    """The file of a module and the package that it is in. One that an import statement inside a function names may not
    be imported yet: it is looked for, and nothing is run."""
    module = sys.modules.get(name)
    if module is not None:
        return getattr(module, "__file__", None), getattr(module, "__package__", None)
    spec = _found(name)
    return (None, None) if spec is None or not spec.has_location else (spec.origin, spec.parent)


def _found(name: str) -> ModuleSpec | None:
    """Where an import of it would find it, without the import of its package that `importlib.util` would begin with."""
    parent, inside = name.rpartition(".")[0], None
    if parent:
        package = sys.modules.get(parent) or _found(parent)
        inside = getattr(package, "__path__", None) or getattr(package, "submodule_search_locations", None)
        if inside is None:
            return None
    specs = (finder.find_spec(name, inside) for finder in sys.meta_path)
    return next((one for one in specs if one is not None), None)


def _in_library(file: Path) -> bool:
    return file.is_relative_to(sysconfig.get_path("stdlib")) or not {"site-packages", "dist-packages"}.isdisjoint(
        file.parts
    )


def _imported(text: bytes, package: str | None) -> Iterator[str]:
    """The names that may be modules in the import statements of a text, wherever in it they stand; none of one that is
    no Python, nor of a relative statement that leads out of all packages: neither can be imported."""
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError):
        return
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            name = "." * node.level + (node.module or "")
            try:
                base = importlib.util.resolve_name(name, package) if node.level else name
            except ImportError:
                continue
            yield base
            yield from (f"{base}.{one.name}" for one in node.names)
