"""Names to classes: found by folder, refused with the choices."""

from pathlib import Path
from textwrap import dedent

import pytest

from zoo.errors import UserError
from zoo.norm import norms
from zoo.option import Option
from zoo.plugins import load_plugins
from zoo.registry import FAMILIES, Registry

FAMILY = """
    from zoo.registry import Registry

    class Colour:
        def __init__(self, width, *, shade=1):
            self.width, self.shade = width, shade

    colours = Registry("colour", Colour, __name__)
"""
RED = """
    from {package} import Colour, colours

    @colours.register("red")
    class Red(Colour):
        pass
"""


@pytest.fixture
def colours(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty family of its own in a package of its own; no other test sees it."""
    monkeypatch.setattr("zoo.registry.FAMILIES", {})
    monkeypatch.syspath_prepend(tmp_path)
    folder = tmp_path / f"colours_{abs(hash(request.node.name))}"
    folder.mkdir()
    write(folder, "__init__", FAMILY)
    return folder


def write(folder: Path, module: str, text: str) -> None:
    (folder / f"{module}.py").write_text(dedent(text).replace("{package}", folder.name), encoding="utf-8")


def registry(folder: Path) -> Registry[object]:
    module = __import__(folder.name)
    found: Registry[object] = module.colours
    return found


def test_a_file_in_the_folder_of_its_family_is_an_option(colours: Path) -> None:
    write(colours, "red", RED)
    assert registry(colours).names() == ["red"]
    built = registry(colours).build(Option("red", {"shade": 3}), 7)
    assert (built.width, built.shade) == (7, 3)


def test_a_name_taken_twice_is_refused_with_both_files(colours: Path) -> None:
    write(colours, "red", RED)
    write(colours, "scarlet", RED)
    with pytest.raises(UserError, match=r"colour 'red' is registered twice: \S*red\.py, \S*scarlet\.py"):
        registry(colours).names()


def test_a_class_that_breaks_the_contract_is_refused(colours: Path) -> None:
    write(colours, "red", RED.replace("Red(Colour)", "Red"))
    with pytest.raises(UserError, match=r"colour 'red' \(Red\) must derive from Colour"):
        registry(colours).names()


def test_importing_a_module_again_is_no_second_registration(colours: Path) -> None:
    write(colours, "red", RED)
    found = registry(colours)
    cls = found.get("red")
    found.register("red")(cls)
    assert found.names() == ["red"]


def test_a_plugin_registers_by_being_imported(colours: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = registry(colours)
    monkeypatch.setitem(FAMILIES, "colour", found)
    (colours.parent / "my_paint.py").write_text(
        f"from {colours.name} import Colour, colours\n\n\n@colours.register('blue')\nclass Blue(Colour):\n    pass\n"
    )
    load_plugins(["my_paint"])
    assert found.names() == ["blue"]


def test_a_plugin_that_is_nowhere_or_breaks_is_refused_by_name(colours: Path) -> None:
    with pytest.raises(UserError, match=r"plugins=no_such_module: there is no such module on PYTHONPATH"):
        load_plugins("no_such_module")
    (colours.parent / "my_broken_paint.py").write_text("1 / 0\n")
    with pytest.raises(UserError, match=r"plugins=my_broken_paint: importing it fails with ZeroDivisionError"):
        load_plugins(["my_broken_paint"])
    with pytest.raises(UserError, match=r"plugins=3 must be a list of module names"):
        load_plugins(3)


@pytest.mark.parametrize(
    ("name", "guess"), [("rmsnrm", " (did you mean rmsnorm?)"), ("layer_norm", " (did you mean layernorm?)"), ("x", "")]
)
def test_an_unknown_name_is_refused_with_the_choices(name: str, guess: str) -> None:
    with pytest.raises(UserError) as refused:
        norms.get(name)
    start = f"no norm '{name}'{guess}; choose from {', '.join(norms.names())}"
    assert str(refused.value).startswith(start)
