"""What cannot be combined is refused when the model is built, for exactly the abilities that a mixer says it lacks."""

import pytest

from tests.helpers import OPTIONS, TOPOLOGIES, build, lacking, model, model_node, refusal
from tests.laws.decay_mixer import register_decay
from zoo.ability import Ability
from zoo.position import positions
from zoo.topology import topologies


@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize("position", OPTIONS["position"])
@pytest.mark.parametrize("ability", Ability)
def test_a_mixer_is_refused_exactly_where_what_it_lacks_is_needed(
    ability: Ability, position: str, topology: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mixer = register_decay(monkeypatch, frozenset(Ability) - {ability})
    node = model_node(mixer=mixer, position=position, topology=topology, n_layers=1)
    kind, scheme = topologies.get(node["topology"]["name"]), positions.get(node["position"]["name"])
    needed = kind.needs | scheme.needs | ({Ability.CROSS} if kind.traits.reads_source else set())
    assert bool(lacking(node)) == (ability in needed)
    if ability in needed:
        message = refusal(mixer=mixer, position=position, topology=topology, n_layers=1)
        assert message.startswith(f"Decay cannot {ability}, which ")
        with pytest.raises(pytest.skip.Exception, match=f"cannot {ability}"):
            model(mixer=mixer, position=position, topology=topology, n_layers=1)
    else:
        build(node)


def test_another_cross_mixer_serves_where_the_mixer_cannot(monkeypatch: pytest.MonkeyPatch) -> None:
    mixer = register_decay(monkeypatch, frozenset(Ability) - {Ability.CROSS})
    message = refusal(topology="encoder_decoder", mixer=mixer, position="none")
    assert "the decoder of 'encoder_decoder' (choose one with model/mixer@model.cross=mha) needs" in message
    build(model_node(topology="encoder_decoder", mixer=mixer, cross="mha", position="none"))


def test_one_layer_that_lacks_an_ability_is_enough_to_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    mixer = register_decay(monkeypatch, frozenset(Ability) - {Ability.ROTATE})
    attention = model_node(mixer="mha")["mixer"]
    pattern = {"name": "pattern", "layers": ["a", "a", "b"], "a": attention, "b": mixer}
    assert "rotate queries and keys, which position 'rope' needs" in refusal(mixer=pattern)
    schemes = {"name": "pattern", "layers": ["a", "a", "b"]}
    schemes |= {"a": model_node(position="rope")["position"], "b": model_node(position="none")["position"]}
    build(model_node(mixer=pattern, position=schemes))
