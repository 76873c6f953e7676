"""Weight decay goes by role: whatever part a parameter belongs to, no gain, bias or vector ever decays."""

import pytest

from tests.helpers import EVERY_OPTION, build, model_node
from zoo.roles import Role, roles
from zoo.training.parameters import decay_groups


@pytest.mark.parametrize("tables", [True, False])
@pytest.mark.parametrize(("axis", "name"), EVERY_OPTION)
def test_matrices_decay_once_and_nothing_else_does(axis: str, name: str, tables: bool) -> None:
    built = build(model_node("transformer_2017", n_layers=1, **{axis: name}))
    kinds = {key: role for key, (role, _) in roles(built).items()}
    grouped = [(key, group["weight_decay"]) for group in decay_groups(built, 0.1, tables) for key, _ in group["params"]]
    assert sorted(key for key, _ in grouped) == sorted(key for key, _ in built.named_parameters())
    for key, rate in grouped:
        table = kinds[key] in (Role.EMBEDDING, Role.POSITION, Role.HEAD)
        still = kinds[key] in (Role.GAIN, Role.BIAS, Role.OWN) or built.get_parameter(key).ndim < 2
        assert rate == (0.0 if still or (table and not tables) else 0.1), key
