"""No dead switch: every option differs from every other of its axis, and every key of an option file acts."""

import types
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from itertools import combinations
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
import torch
from torch import Tensor

from tests.helpers import EVERY_OPTION, LENGTH, OPTIONS, Node, build, call, draw, model_node, option
from zoo.errors import UserError
from zoo.families import AXES
from zoo.registry import FAMILIES
from zoo.schema import fields

Path = tuple[str, ...]
Fingerprint = dict[str, Tensor]
STAGES = ({"topology": "encoder_decoder"}, {"topology": "decoder_only"})
"""A switch may act on either of these only (a source's own depth, a table shared with the source)."""
OTHER_VALUES: dict[Any, tuple[Any, ...]] = {
    bool: (True, False),
    int: (1, 2, 3, 5, 200),
    float: (0.5, 0.125, 2.0),
    type(None): (None,),
}
"""What to try instead, by type. A value that is refused proves nothing; one must be accepted and change the model."""


def fingerprint(node: Node) -> Fingerprint:
    """All that can differ: names, shapes and initial values of the parameters, losses, and outputs while training."""
    built = build(node).train()
    found = {name: parameter.detach() for name, parameter in built.named_parameters()}
    masks = {"prefix": torch.arange(LENGTH).expand(2, -1) < 5} if built.topology.traits.takes_prefix else {}
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(0)
        out = call(built, draw(2), **masks)
    return found | {f"auxiliary {name}": loss for name, loss in out.auxiliary.items()} | {"logits": out.logits}


def same(a: Fingerprint, b: Fingerprint) -> bool:
    return a.keys() == b.keys() and all(torch.equal(a[key], b[key]) for key in a)


@cache
def of_option(axis: str, name: str, stage: int, n_layers: int) -> Fingerprint:
    return fingerprint(model_node(**(STAGES[stage] | {axis: name, "n_layers": n_layers})))


@pytest.mark.parametrize("axis", AXES)
def test_no_two_options_of_an_axis_are_the_same_model(axis: str) -> None:
    deepest = max(len(option(axis, name).get("layers", ())) for name in OPTIONS[axis])
    for a, b in combinations(OPTIONS[axis], 2):
        pairs = ([of_option(axis, name, stage, max(2, deepest)) for name in (a, b)] for stage in range(len(STAGES)))
        assert not all(same(*pair) for pair in pairs), (a, b)


def leaves(family: str, node: Node, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every key of an option's node that a user may change, with the type that the signature gives it."""
    if node["name"] == "pattern":
        yield (*path, "layers"), list
        for key in sorted(node.keys() - {"name", "layers"}):
            yield from leaves(family, node[key], (*path, key))
        return
    hints = get_type_hints(FAMILIES[family].get(node["name"]).__init__, include_extras=True)
    for key in fields(FAMILIES[family].get(node["name"])):
        if get_origin(hints[key]) is Annotated:
            yield from leaves(get_args(hints[key])[1], node[key], (*path, key))
        else:
            yield (*path, key), hints[key]


def others(kind: Any, value: Any) -> list[Any]:
    """Values of that type to put in place of the present one."""
    if kind is list:
        return [value[::-1], value[-1:] + value[:-1]]
    if get_origin(kind) in (Union, types.UnionType):
        return [other for one in get_args(kind) for other in others(one, value)]
    tried = get_args(kind) if get_origin(kind) is Literal else OTHER_VALUES[kind]
    return [other for other in tried if other != value or type(other) is not type(value)]


def changed(node: Node, path: Path, value: Any) -> Node:
    key, rest = path[0], path[1:]
    return node | {key: changed(node[key], rest, value) if rest else value}


def value_at(node: Node, path: Path) -> Any:
    return value_at(node[path[0]], path[1:]) if path else node


def acts(axis: str, name: str, path: Path, value: Any) -> bool:
    """Whether the model with that value is built, and is another model."""
    node = changed(option(axis, name), path, value)
    depth = model_node(**{axis: name})["n_layers"]
    for stage, where in enumerate(STAGES):
        try:
            found = fingerprint(model_node(**(where | {axis: node, "n_layers": depth})))
        except UserError:
            continue
        if not same(found, of_option(axis, name, stage, depth)):
            return True
    return False


@pytest.mark.parametrize(("axis", "name"), EVERY_OPTION)
def test_every_key_of_an_option_changes_the_model(axis: str, name: str) -> None:
    for path, kind in leaves(axis, option(axis, name)):
        tried = others(kind, value_at(option(axis, name), path))
        worked = (acts(axis, name, path, value) for value in tried)
        every = get_origin(kind) is Literal
        assert all(worked) if every else any(worked), (".".join(path), tried)


@pytest.mark.parametrize("name", [name for name in OPTIONS["mixer"] if "layers" not in option("mixer", name)])
def test_a_key_of_a_cross_mixer_changes_the_model_or_may_not_be_set(name: str) -> None:
    reader = option("mixer", name) | {"window": None}
    before = fingerprint(model_node(topology="encoder_decoder", cross=reader))
    for path, kind in leaves("mixer", reader):
        accepted = []
        for value in others(kind, value_at(reader, path)):
            with suppress(UserError):
                accepted.append(fingerprint(model_node(topology="encoder_decoder", cross=changed(reader, path, value))))
        assert not accepted or not all(same(one, before) for one in accepted), path


@pytest.mark.parametrize(("axis", "name"), EVERY_OPTION)
def test_an_option_file_shows_every_key_of_its_signature(axis: str, name: str) -> None:
    def assert_whole(node: Node) -> None:
        if node["name"] == "pattern":
            for key in node.keys() - {"name", "layers"}:
                assert_whole(node[key])
            return
        assert node.keys() - {"name"} == fields(FAMILIES[axis].get(node["name"])).keys()

    assert_whole(option(axis, name))
    assert isinstance(option(axis, name)["name"], str)


@pytest.mark.parametrize(
    ("key", "value"),
    [("d_model", 32), ("n_layers", 3), ("n_heads", 2), ("dropout", 0.5), ("bias", False)],
)
def test_every_size_of_the_model_changes_it(key: str, value: object) -> None:
    assert not same(fingerprint(model_node("gpt2")), fingerprint(model_node("gpt2", **{key: value})))
