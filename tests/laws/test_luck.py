"""Same luck: initial values depend on the seed and a parameter's name only, and take no luck from anyone else."""

from itertools import combinations

import pytest
import torch
from torch import Tensor

from tests.helpers import EVERY_OPTION, OPTIONS, PRESETS, build, close, model_node, preset
from tests.laws.decay_mixer import register_decay
from zoo.ability import Ability
from zoo.families import AXES
from zoo.model import Model
from zoo.roles import Role, roles, start_factor


def values(model: Model) -> dict[str, Tensor]:
    return dict(model.named_parameters())


def size(model: Model, name: str) -> float:
    """What its parts ask the draw of a parameter to be multiplied by."""
    module, _, own = name.rpartition(".")
    return start_factor(model.get_submodule(module), own)


def drawn(model: Model) -> list[str]:
    """Parameters whose initial values are random."""
    return [name for name, (role, _) in roles(model).items() if role not in (Role.GAIN, Role.BIAS)]


@pytest.mark.parametrize("base", PRESETS)
def test_the_same_seed_gives_the_same_initial_values_and_another_seed_others(base: str) -> None:
    first, again, other = (values(build(preset(base), seed=seed)) for seed in (3, 3, 4))
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not any(torch.equal(first[name], other[name]) for name in drawn(build(preset(base))))


@pytest.mark.parametrize("base", PRESETS)
def test_no_two_parameters_start_alike(base: str) -> None:
    found = [values(model)[name].flatten()[:64] for model in [build(preset(base))] for name in drawn(model)]
    assert not any(torch.equal(a / a.std(), b / b.std()) for a, b in combinations(found, 2))


@pytest.mark.parametrize("axis", [axis for axis in AXES if axis != "init"])
def test_two_variants_start_identical_wherever_they_share_a_parameter(axis: str) -> None:
    """To the bit; or the same draw at another size, where a part asks for that (`scale_start`)."""
    variants = [build(model_node(n_layers=4, init="normal", **{axis: name})) for name in OPTIONS[axis]]
    for one, other in combinations(variants, 2):
        a, b = values(one), values(other)
        shared = [name for name in a.keys() & b.keys() if a[name].shape == b[name].shape]
        assert len(shared) > len(min(a, b, key=len)) / 4
        for name in shared:
            sizes = [size(model, name) for model in (one, other)]
            if sizes[0] == sizes[1]:
                assert torch.equal(a[name], b[name]), name
            else:
                assert close(a[name] / sizes[0], b[name] / sizes[1]), name


@pytest.mark.parametrize(("axis", "name"), EVERY_OPTION)
def test_building_takes_no_random_number_from_anyone(axis: str, name: str) -> None:
    before = torch.get_rng_state()
    build(model_node(**{axis: name}))
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("init", OPTIONS["init"])
def test_a_mixers_own_init_survives_composition(init: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mixer = register_decay(monkeypatch, frozenset(Ability))
    built = build(model_node(init=init, mixer=mixer, n_layers=3))
    rates = [values(built)[f"topology.stack.blocks.{i}.mixer.rates"] for i in range(3)]
    assert all(((rate >= 5) & (rate <= 6)).all() for rate in rates)
    assert not torch.equal(rates[0], rates[1])
