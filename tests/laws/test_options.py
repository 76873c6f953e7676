"""Every option file composes, parses and builds wherever it may meet the others, or is refused for a stated reason."""

from itertools import product

import pytest
import torch

from tests.helpers import (
    EVERY_OPTION,
    OPTIONS,
    PRESETS,
    TOPOLOGIES,
    VOCABULARY,
    Node,
    build,
    composed,
    draw,
    files,
    lacking,
    logits,
    model_node,
    option,
    preset,
    real_of,
)
from zoo.assembly import assemble
from zoo.config import parse, parse_model
from zoo.data.batch import PairBatch, TextBatch
from zoo.data.special import Special
from zoo.errors import UserError
from zoo.families import AXES, PER_LAYER
from zoo.option import Option
from zoo.paths import CONF
from zoo.position import Position, positions
from zoo.registry import FAMILIES
from zoo.schema import parse_choice, parse_option


def without_window(node: Node) -> Node:
    """The mixer with no window, which a cross-mixer may not have."""
    inner = {key: without_window(value) if isinstance(value, dict) else value for key, value in node.items()}
    return inner | {"window": None} if "window" in inner else inner


def marks_embeddings(position: str) -> bool:
    """Whether the scheme acts below the first layer, where no pattern reaches."""
    return positions.get(position).embed is not Position.embed


def refused(node: Node) -> str | None:
    """What the build says against that model."""
    try:
        build(node)
    except UserError as error:
        return str(error)
    return None


def options_in(choice: Option) -> list[tuple[str, str]]:
    """Family and name of an option and of the options inside it."""
    inside = [found for value in choice.values.values() if isinstance(value, Option) for found in options_in(value)]
    return [choice.name, *inside]


@pytest.mark.parametrize("axis", AXES)
def test_every_registered_part_has_an_option_file_and_every_option_file_a_registered_part(axis: str) -> None:
    configured = set()
    for name in OPTIONS[axis]:
        choice = parse_choice(axis, option(axis, name), f"model.{axis}")
        configured |= {found for one in choice.distinct.values() for found in options_in(one)}
    assert configured == set(FAMILIES[axis].names())


def test_the_folders_of_conf_model_are_the_axes_of_the_model() -> None:
    assert {path.name for path in (CONF / "model").iterdir() if path.is_dir()} == {*AXES, "size"}


@pytest.mark.parametrize(("axis", "name"), EVERY_OPTION)
def test_every_option_builds_in_every_preset_and_on_every_topology_unless_a_mixer_cannot_serve(
    axis: str, name: str
) -> None:
    swaps = [(base, {}) for base in PRESETS] + [("modern", {"topology": topology}) for topology in TOPOLOGIES]
    for base, swap in swaps:
        node = model_node(base, n_layers=1, **(swap | {axis: name}))
        assert (refused(node) is not None) == bool(lacking(node)), (base, swap, refused(node), lacking(node))


@pytest.mark.parametrize("name", OPTIONS["mixer"])
def test_every_mixer_reads_a_memory_or_is_refused_as_a_cross_mixer(name: str) -> None:
    for own in OPTIONS["mixer"]:
        node = model_node(
            topology="encoder_decoder", mixer=own, cross=without_window(option("mixer", name)), n_layers=2
        )
        assert (refused(node) is not None) == bool(lacking(node))


@pytest.mark.parametrize("size", files("model/size"))
@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_builds_at_every_size(name: str, size: str) -> None:
    with torch.device("meta"):
        model = assemble(parse_model(preset(name, size)), 256)
    assert sum(parameter.numel() for parameter in model.parameters()) > 0


@pytest.mark.parametrize("size", ["tiny", "small"])
@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_runs(name: str, size: str) -> None:
    assert logits(build(preset(name, size)), draw(2)).isfinite().all()


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_a_whole_experiment(name: str) -> None:
    assert parse(composed(f"model={name}")).model == parse_model(composed(f"model={name}")["model"])


@pytest.mark.parametrize("objective", files("objective"))
def test_an_objective_meets_exactly_the_topologies_it_serves(objective: str) -> None:
    node = composed(f"objective={objective}")
    serves = FAMILIES["objective"].get(node["objective"]["name"]).serves
    for topology in TOPOLOGIES:
        chosen = option("topology", topology)
        config = node | {"model": node["model"] | {"topology": chosen}}
        if serves(FAMILIES["topology"].get(chosen["name"]).traits):
            assert parse(config).model.topology.name == chosen["name"]
        else:
            with pytest.raises(UserError, match=f"needs a topology that .*, not '{topology}'"):
                parse(config)


@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize("objective", files("objective"))
def test_an_objective_asks_for_what_its_topologies_answer(objective: str, topology: str) -> None:
    node, name = composed(f"objective={objective}")["objective"], option("topology", topology)["name"]
    asker = FAMILIES["objective"].build(parse_option("objective", node, "objective"))
    traits = FAMILIES["topology"].get(name).traits
    if not asker.serves(traits):
        return
    real = real_of([20, 13], 20, "right")
    documents = torch.tensor([[0] * 9 + [1] * 11] * 2)
    special = Special.after(VOCABULARY)
    built = build(model_node(topology=topology), vocabulary=special.mask + 1)
    texts = (TextBatch(draw(2, 20)), TextBatch(draw(2, 20), real), TextBatch(draw(2, 20), real, documents))
    pairs = (PairBatch(draw(2, 20), real, draw(2, 20), real),)
    for batch in [one for kind, made in (("text", texts), ("pairs", pairs)) if kind in asker.reads for one in made]:
        task = asker.prepare(batch, special, traits, lambda length, each: torch.rand(2, length, each))
        out = built(**task.inputs).logits
        assert out.isfinite().all()
        assert out.shape[:2] == task.targets.shape == task.weights.shape
        assert task.weights.any()


@pytest.mark.unchecked  # all pairs of options whose shapes other laws check
@pytest.mark.parametrize("axis", PER_LAYER)
@torch.no_grad()
def test_any_two_options_of_a_layer_axis_alternate_over_the_layers(axis: str) -> None:
    for a, b in product(OPTIONS[axis], repeat=2):
        nodes = {"a": option(axis, a), "b": option(axis, b)}
        if "pattern" in (nodes["a"]["name"], nodes["b"]["name"]):
            continue  # a pattern is no entry of a pattern
        node = model_node(**{axis: {"name": "pattern", "layers": ["a", "b"], **nodes}})
        if axis == "position" and any(marks_embeddings(one["name"]) for one in nodes.values()):
            assert "marks the embeddings once" in (refused(node) or "")
            continue
        built = build(node)
        assert logits(built, draw(1)).isfinite().all()
