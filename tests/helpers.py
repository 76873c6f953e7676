"""What the laws and the tests of parts share: options read from conf/, small models of any choice of them, inputs.

Nothing here lists an option: a new file under conf/model/ is found, combined and tested by existing.
"""

from copy import deepcopy
from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from zoo.ability import Ability, missing
from zoo.assembly import build_model
from zoo.command.compose import compose
from zoo.common import Common
from zoo.config import ASIDE, parse_model, plain
from zoo.context import Context
from zoo.errors import UserError
from zoo.families import AXES
from zoo.mixer import mixers
from zoo.mixer.backend import BACKENDS
from zoo.model import Model, Output
from zoo.norm import norms
from zoo.objective import objectives
from zoo.option import Option
from zoo.paths import CONF
from zoo.position import Position, positions
from zoo.registry import FAMILIES
from zoo.sequence import Sequence
from zoo.topology import topologies

Node = dict[str, Any]
Part = tuple[str, str]
"""An axis and one of its options."""
VOCABULARY = 13
LENGTH = 40
"""Longer than the window of any option file, so that a window acts."""
SOURCE_LENGTH = 9
TRAINED = 16
"""What stands for the trained length where a scheme has one: shorter than most texts, so that it acts beyond it."""


def files(group: str) -> list[str]:
    """The option files of a group of conf/, by name."""
    return sorted(path.stem for path in Path(CONF, group).glob("*.yaml") if not path.stem.startswith("_"))


PRESETS = files("model")
OPTIONS = {axis: files(f"model/{axis}") for axis in AXES}
TOPOLOGIES = OPTIONS["topology"]
EVERY_OPTION = [(axis, option) for axis in AXES for option in OPTIONS[axis]]
MIXER_AND_POSITION = list(product(OPTIONS["mixer"], OPTIONS["position"]))
TWO_PARTS: list[tuple[Part, Part]] = [
    ((a, one), (b, other))
    for a, b in combinations([axis for axis in AXES if axis not in ("topology", "init")], 2)
    if {a, b} != {"mixer", "position"}  # those two meet on every topology, in laws of their own
    for one, other in product(OPTIONS[a], OPTIONS[b])
]
"""Every pair of options of different axes of a layer, or around the layers."""


@cache
def composed(*overrides: str) -> Node:
    """The experiment of a command line, as plain containers, without what is no part of one. Not to be written to."""
    return {key: value for key, value in plain(compose(overrides)).items() if key not in ASIDE}


@cache
def _row(i: int) -> Node:
    """One composition that holds the i-th option of every axis, since each composition takes a tenth of a second."""
    return composed(*(f"model/{axis}={names[i % len(names)]}" for axis, names in OPTIONS.items()))["model"]


def option(axis: str, name: str) -> Node:
    """The node of an option file, as Hydra composes it, but for the length it was trained for."""
    node = _row(OPTIONS[axis].index(name))[axis]
    return node | {"trained": TRAINED} if "trained" in node else node


def learned(rows: int) -> Node:
    """Learned positions with a table of that many rows."""
    return option("position", "learned") | {"max_positions": rows}


def preset(name: str, size: str = "tiny") -> Node:
    """The `model` node of a preset at that size."""
    sizes = composed(f"model/size={size}")["model"]
    return composed(f"model={name}")["model"] | {key: sizes[key] for key in ("d_model", "n_layers", "n_heads")}


def model_node(base: str = "modern", **changes: Any) -> Node:
    """The preset with axes swapped (by the name of an option file, or by a node) and sizes changed. It is narrow, as
    deep as its patterns are long, and starts from weights large enough for a fault to show in the logits."""
    node = composed(f"model={base}")["model"] | {"d_model": 16, "n_heads": 4, "init": option("init", "xavier")}
    for key, value in changes.items():
        axis = "mixer" if key == "cross" else key
        node[key] = option(axis, value) if axis in AXES and isinstance(value, str) else value
    choices = [node[axis] for axis in AXES] + [node.get("cross") or {}]
    deepest = max(len(choice.get("layers", ())) for choice in choices)
    layers = changes.get("n_layers", 2)
    return node | {"n_layers": max(layers, deepest) if deepest else layers}


def build(node: Node, *, vocabulary: int = VOCABULARY, seed: int = 0) -> Model:
    """The model of a node, in evaluation mode."""
    return build_model(parse_model(node), vocabulary, seed).eval()


_built: dict[str, Model] = {}


def shared(base: str = "modern", **changes: Any) -> Model:
    """The small model of `model_node`, the same one for all who only read it. Skips the test, saying why, where a mixer
    declares that it cannot serve."""
    node = model_node(base, **changes)
    if repr(node) not in _built:
        for reason in lacking(node):
            pytest.skip(f"refused: {reason}")
        _built[repr(node)] = build(node)
    built = _built[repr(node)]
    built.attention = "plain"
    return built


def model(base: str = "modern", **changes: Any) -> Model:
    """A copy of the shared model, which its caller may change."""
    return deepcopy(shared(base, **changes))


def refusal(base: str = "modern", **changes: Any) -> str:
    """What is said against the small model of `model_node`."""
    with pytest.raises(UserError) as refused:
        build(model_node(base, **changes))
    return str(refused.value)


def common(**changes: Any) -> Common:
    """What a part gets first, for parts by themselves: width 16, four heads, no biases, RMSNorm."""
    sizes = {"d_model": 16, "n_heads": 4, "dropout": 0.0, "bias": False}
    place = {"layer": 0, "depth": 2, "causal": True}
    return Common(**({"norm": norms.get("rmsnorm")} | sizes | place | changes))


def part(family: str, name: str, /, *supplied: Any, shared: Common | None = None, **values: Any) -> Any:
    """One part by itself."""
    return FAMILIES[family].get(name)(common() if shared is None else shared, *supplied, **values)


def context(sequence: Sequence, *, causal: bool = True, position: Position | None = None) -> Context:
    """What a part sees when a stack reads that sequence."""
    return Context(sequence, sequence, causal, position or part("position", "none"), BACKENDS["plain"])


def plain_sequence(length: int, rows: int = 1) -> Sequence:
    """Nothing but real tokens."""
    return Sequence.of(torch.zeros(rows, length, dtype=torch.long))


def noise(*shape: int, seed: int = 0) -> Tensor:
    """Standard normal numbers."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


@torch.no_grad()
def randomise(module: nn.Module, std: float = 0.5) -> nn.Module:
    """Fill every parameter, gains and biases too, so that none of them is neutral."""
    for i, parameter in enumerate(module.parameters()):
        parameter.copy_(std * noise(*parameter.shape, seed=i))
    return module


def lacking(node: Node) -> list[str]:
    """What some mixer of the model cannot do though topology or position needs it, by their declarations alone."""
    config = parse_model(node)
    topology = topologies.get(config.topology.name)
    reasons = []
    for layer in range(config.n_layers):
        needs = topology.needs | positions.get(config.position.at(layer).name).needs
        reasons += _lacks(config.mixer.at(layer), needs)
        if topology.traits.reads_source:
            reasons += _lacks((config.cross or config.mixer).at(layer), frozenset({Ability.CROSS}))
    return reasons


def _lacks(mixer: Option, needs: frozenset[Ability]) -> list[str]:
    return [f"mixer '{mixer.name}' cannot {ability}" for ability in missing(mixers.get(mixer.name), needs)]


CAUSAL_TOPOLOGIES = [
    name for name in TOPOLOGIES if Ability.CAUSAL in topologies.get(option("topology", name)["name"]).needs
]

SERVED = [
    (objective, kind, topology)
    for objective in files("objective")
    for kind in sorted(objectives.get(objective).reads)
    for topology in TOPOLOGIES
    if objectives.get(objective).serves(topologies.get(option("topology", topology)["name"]).traits)
]
"""Every objective with each kind of data that it reads and each topology that it serves."""


def draw(rows: int, length: int = LENGTH, *, seed: int = 0, vocabulary: int = VOCABULARY) -> Tensor:
    """Uniform tokens (rows, length)."""
    return torch.randint(vocabulary, (rows, length), generator=torch.Generator().manual_seed(seed))


def call(model: Model, tokens: Tensor, *, backend: str = "plain", **inputs: Tensor | None) -> Output:
    """The model's output; where it reads a source and none is given, that is the same text for every row."""
    if model.topology.traits.reads_source and "source" not in inputs:
        inputs["source"] = draw(1, SOURCE_LENGTH, seed=7).expand(len(tokens), -1)
    model.attention = backend
    return model(tokens, **inputs)


def logits(model: Model, tokens: Tensor, **inputs: Any) -> Tensor:
    """The logits of `call`."""
    return call(model, tokens, **inputs).logits


def close(a: Tensor, b: Tensor, tolerance: float = 1e-5) -> bool:
    """Whether no entry differs by more than the tolerance."""
    return a.shape == b.shape and bool(((a - b).abs() <= tolerance).all())


def real_of(lengths: list[int], width: int, side: str) -> Tensor:
    """The padding mask (rows, width) of rows with that many real tokens: True is real."""
    right = torch.arange(width) < torch.tensor(lengths)[:, None]
    return right if side == "right" else right.flip(1)


def spread(texts: list[Tensor], real: Tensor) -> Tensor:
    """The texts laid into a batch at its real places; anything may stand where there is padding."""
    return draw(*real.shape, seed=99).masked_scatter(real, torch.cat(texts))


def both_sides(lengths: list[int], width: int) -> Tensor:
    """Real places of a batch that has each length twice: padded on the left, then padded on the right."""
    return torch.cat([real_of(lengths, width, "left"), real_of(lengths, width, "right")])


def with_window(mixer: str, window: int) -> Node:
    """The mixer with every window that it has set to that many positions."""

    def narrow(node: Node) -> Node:
        inner = {key: narrow(value) if isinstance(value, dict) else value for key, value in node.items()}
        return inner | {"window": window} if inner.get("window") else inner

    return narrow(option("mixer", mixer))
