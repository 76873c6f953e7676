"""Every key of an objective, an optimizer, a schedule, a budget or a tokenizer reaches training from the config: it
changes a loss, a weight or the vocabulary."""

from functools import cache
from typing import Any

import pytest
import torch
from omegaconf import OmegaConf

from tests.helpers import TOPOLOGIES, Node, composed, files, model_node, option
from zoo.config import parse
from zoo.data.corpus import Corpus, load_corpus
from zoo.data.tokenizer import tokenizers
from zoo.errors import UserError
from zoo.jobs.identity import OBSERVATION
from zoo.jobs.parts import build_parts
from zoo.jobs.updates import updates
from zoo.objective import objectives
from zoo.option import Option
from zoo.paths import CONF
from zoo.registry import FAMILIES
from zoo.schema import fields, parse_option
from zoo.topology import topologies
from zoo.topology.stack import Stack
from zoo.training.runtime import Machinery

MACHINERY = Machinery("cpu", "float32", "plain", False, 1, torch.__version__)
BUDGET = {"steps": 3, "batch_size": 4, "context": 16, "accumulate": 1}
OPTIONS = [(group, name) for group in ("objective", "optimizer", "schedule") for name in files(group)]
BESIDE: Node = {"decay_embeddings": {"weight_decay": 0.5}, "shape": {"decay": 1.0}}
"""What a key needs to act on at all: a decay that it may widen, a cooldown of several updates."""
OTHERS: dict[type, tuple[Any, ...]] = {
    bool: (True, False),
    int: (1, 2, 5, 300),
    float: (0.5, 0.125, 0.01, 2.0),
    type(None): (0.5, 0.01),
    str: ("linear", "sqrt"),
}
"""What to try in place of a value. One that is refused proves nothing; one must be accepted and act."""

Corpora = dict[str, Corpus]
Outcome = tuple[list[float | None], list[torch.Tensor]]


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Corpora:
    """A text and pairs, of some hundred words each."""
    root = tmp_path_factory.mktemp("corpora")
    (root / "text").write_text("".join(f"line {i} says that {i} and {i} are {2 * i}\n" for i in range(60)))
    (root / "pairs").write_text("".join(f"{i} plus\t{i % 7}\n" for i in range(60)))
    data = {kind: Option(kind, {"path": str(root / kind)}) for kind in ("text", "pairs")}
    return {kind: load_corpus(one, Option("bytes"), str(root / "cache")) for kind, one in data.items()}


@cache
def base() -> Node:
    """A small experiment, in which all is chosen but what a test looks at."""
    node = composed()
    small = {"budget": node["budget"] | BUDGET, "schedule": {"name": "constant", "warmup": 0}}
    return node | small | {"optimizer": {"name": "sgd"}, "objective": {"name": "causal"}}


@cache
def as_written(group: str, name: str) -> Node:
    """An option file."""
    found = OmegaConf.to_container(OmegaConf.load(CONF / group / f"{name}.yaml"))
    assert isinstance(found, dict)
    return {str(key): value for key, value in found.items()}


def trained(corpora: Corpora, node: Node) -> Outcome:
    """The losses of a run, the weights at its end, and what stands for the weights when they are scored."""
    objective = objectives.get(node["objective"]["name"])
    traits = {name: topologies.get(option("topology", name)["name"]).traits for name in TOPOLOGIES}
    topology = next(name for name in TOPOLOGIES if objective.serves(traits[name]))
    experiment = parse(node | {"model": model_node(n_layers=1, topology=topology)})
    parts = build_parts(experiment, corpora["text" if "text" in objective.reads else "pairs"], MACHINERY)
    losses = [step.loss for step in updates(experiment, parts, MACHINERY)]
    weights = [one.detach().clone() for one in parts.model.parameters()]
    with parts.optimizer.averaged():
        return losses, weights + [one.detach().clone() for one in parts.model.parameters()]


def same(one: Outcome, other: Outcome) -> bool:
    return one[0] == other[0] and all(torch.equal(a, b) for a, b in zip(one[1], other[1], strict=True))


def others(value: Any) -> list[list[Any]]:
    """Values to put in place of that one; of a list, those with another first entry, another second, …"""
    if isinstance(value, list):
        return [[[*value[:i], other, *value[i + 1 :]] for other in others(one)[0]] for i, one in enumerate(value)]
    return [[other for other in OTHERS[type(value)] if other != value]]


def acts(corpora: Corpora, node: Node, group: str, key: str) -> bool:
    """Whether some value of that key, and of each entry of a list, is accepted and makes another run."""
    node = node | {group: node[group] | BESIDE.get(key, {})}
    before = trained(corpora, node)

    def makes_another(value: Any) -> bool:
        try:
            return not same(trained(corpora, node | {group: node[group] | {key: value}}), before)
        except UserError:
            return False

    return all(any(map(makes_another, tried)) for tried in others(node[group][key]))


@pytest.mark.parametrize(("group", "name"), OPTIONS)
def test_every_key_of_an_option_acts(corpora: Corpora, group: str, name: str) -> None:
    node = base() | {group: as_written(group, name)}
    assert same(trained(corpora, node), trained(corpora, node))
    dead = [key for key in node[group] if key != "name" and not acts(corpora, node, group, key)]
    assert not dead


def test_every_key_of_the_budget_that_belongs_to_a_run_acts_and_so_does_the_seed(corpora: Corpora) -> None:
    keys = [key for key in as_written("budget", "default") if key not in OBSERVATION]
    assert not [key for key in keys if not acts(corpora, base(), "budget", key)]
    assert not same(trained(corpora, base()), trained(corpora, base() | {"seed": 1}))


def test_a_seed_has_a_start_batches_and_dropout_of_its_own(corpora: Corpora) -> None:
    """Each of them by itself: of a model that starts alike, or reads the same rows, runs would differ too little."""
    found: list[list[torch.Tensor]] = []
    for seed in (0, 1):
        experiment = parse(base() | {"model": model_node(n_layers=1, dropout=0.5), "seed": seed})
        parts = build_parts(experiment, corpora["text"], MACHINERY)
        seen = [parts.model.head.out.weight.detach().clone()]
        table = parts.model.topology.out
        table.register_forward_hook(lambda module, given, out, seen=seen: seen.append(given[0]))
        table.dropout.register_forward_hook(lambda module, given, out, seen=seen: seen.append(out == 0))
        next(updates(experiment, parts, MACHINERY))
        found.append(seen)
    assert [len(seen) for seen in found] == [3, 3]
    assert not any(torch.equal(one, other) for one, other in zip(*found, strict=True))


@pytest.mark.parametrize("asked", [False, True])
def test_what_is_computed_again_is_what_the_runtime_says(corpora: Corpora, asked: bool) -> None:
    runtime = base()["runtime"] | {"checkpoint_activations": asked}
    parts = build_parts(parse(base() | {"model": model_node(), "runtime": runtime}), corpora["text"], MACHINERY)
    stacks = [module for module in parts.model.modules() if isinstance(module, Stack)]
    assert [stack.recompute for stack in stacks] == [asked]


def learnt(node: Node) -> list[bytes]:
    """What the ids of a tokenizer stand for that has read a hundred numbers."""
    tokenizer = tokenizers.build(parse_option("tokenizer", node, "tokenizer"))
    tokenizer.train([" ".join(str(7 * i % 101) for i in range(400)).encode()])
    return tokenizer.texts


def test_every_key_of_a_tokenizer_changes_its_vocabulary() -> None:
    smaller = {("bpe", "vocabulary"): 260, ("words", "vocabulary"): 5}
    options = {name: as_written("tokenizer", name) for name in files("tokenizer")}
    assert smaller.keys() == {(name, key) for name, node in options.items() for key in node.keys() - {"name"}}
    for (name, key), value in smaller.items():
        assert len(learnt(options[name] | {key: value})) < len(learnt(options[name]))


@pytest.mark.parametrize(("group", "name"), [*OPTIONS, *(("tokenizer", name) for name in files("tokenizer"))])
def test_an_option_file_shows_every_key_of_its_signature(group: str, name: str) -> None:
    node = as_written(group, name)
    assert node.keys() - {"name"} == fields(FAMILIES[group].get(node["name"])).keys()
