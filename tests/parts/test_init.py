"""How parameters start, by the role they play and never by their name."""

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor, nn

from tests.helpers import OPTIONS, build, common, model_node, option, refusal
from zoo.ffn import ffns
from zoo.init import generator_for, initialise, inits
from zoo.mixer import mixers
from zoo.option import Option
from zoo.roles import Linear, Role, role_of, roles, set_role

TABLES = (Role.EMBEDDING, Role.POSITION, Role.HEAD)


def large(init: str, **changes: object) -> Iterator[tuple[str, Role, Tensor]]:
    """Names, roles and values of the drawn parameters of a model wide enough to measure a deviation."""
    node = model_node(d_model=192, init=init, embedding="plain", **changes)
    built = build(node, vocabulary=500)
    parameters = dict(built.named_parameters())
    for name, (role, _) in roles(built).items():
        if role not in (Role.GAIN, Role.BIAS):
            yield name, role, parameters[name].detach()


@pytest.mark.parametrize("mixer", OPTIONS["mixer"])
@pytest.mark.parametrize("ffn", OPTIONS["ffn"])
def test_what_writes_into_the_residual_stream_starts_smaller_the_deeper_the_stack(mixer: str, ffn: str) -> None:
    """0.02 / √N, N one for each sublayer, for the experts of a mixture as well; everything else 0.02."""
    found = list(large("gpt2", mixer=mixer, ffn=ffn, n_layers=4))
    residual = [values for _, role, values in found if role is Role.RESIDUAL]
    assert len(residual) == 4 * {"moe": 9, "moe_sigmoid": 9, "none": 1}.get(ffn, 2)
    for name, role, values in found:
        std = 0.02 / (4 if ffn == "none" else 8) ** 0.5 if role is Role.RESIDUAL else 0.02
        assert values.std().item() == pytest.approx(std, rel=0.05), name
        assert abs(values.mean().item()) < 5 * std / values.numel() ** 0.5, name


def test_twelve_layers_of_width_768_start_as_gpt2_did() -> None:
    shared = common(d_model=768, n_heads=12, depth=12)
    layer = nn.ModuleList([mixers.build(Option("attention"), shared), ffns.build(Option("relu"), shared)])
    initialise(layer, inits.get("normal")(scale_residual=True), 0, lambda name: 24)
    for name, values in layer.named_parameters():
        residual = name in ("0.out.weight", "1.down.weight")
        assert values.std().item() == pytest.approx(0.00408 if residual else 0.02, rel=0.01), name


def test_what_counts_is_how_often_the_own_stack_writes_into_its_stream() -> None:
    topology = option("topology", "encoder_decoder") | {"n_encoder_layers": 1, "n_decoder_layers": 4}
    writes = {"encoder": 1 * 2, "stack": 4 * 3}
    for name, role, values in large("gpt2", topology=topology):
        if role is Role.RESIDUAL:
            assert values.std().item() == pytest.approx(0.02 / writes[name.split(".")[1]] ** 0.5, rel=0.05), name


@pytest.mark.parametrize(("init", "std"), [("normal", 0.02), ("too_large", 0.5), ("too_small", 1e-4)])
def test_normal_gives_every_matrix_and_table_one_deviation(init: str, std: float) -> None:
    for name, _, values in large(init, position="learned"):
        assert values.std().item() == pytest.approx(std, rel=0.05), name


@pytest.mark.parametrize("init", ["xavier", "glorot"])
def test_glorot_goes_by_the_sum_of_the_fans_and_tables_by_the_width(init: str) -> None:
    """A cut at three deviations takes 1.3 % off."""
    for name, role, values in large(init, position="learned", mixer="mqa"):
        std = 192**-0.5 if role in TABLES else (2 / sum(values.shape)) ** 0.5
        assert values.std().item() == pytest.approx(std, rel=0.05), name
        bound = 3 * std if init == "glorot" else 3**0.5 * std if role not in TABLES else 9.0
        assert values.abs().max() <= bound * 1.0001, name


@pytest.mark.parametrize("std", [0.0, -0.02])
def test_a_deviation_of_zero_is_refused(std: float) -> None:
    assert refusal(init=option("init", "normal") | {"std": std}) == f"model.init.std={std} must be above 0"


def test_biases_start_at_zero_and_gains_at_one() -> None:
    built = build(model_node("bert", bias=True))
    parameters = dict(built.named_parameters())
    kinds = {name: role for name, (role, _) in roles(built).items()}
    assert {Role.BIAS, Role.GAIN} <= set(kinds.values())
    assert not any(parameters[name].any() for name, role in kinds.items() if role is Role.BIAS)
    assert all((parameters[name] == 1).all() for name, role in kinds.items() if role is Role.GAIN)


class Bare(nn.Module):
    def __init__(self, *shape: int):
        super().__init__()
        self.rate = nn.Parameter(torch.full(shape, 0.5))


def test_a_vector_nobody_spoke_of_is_a_gain_and_keeps_its_value() -> None:
    module = Bare(4)
    assert role_of(module, "rate", module.rate) == (Role.GAIN, None)
    initialise(module, inits.get("normal")(), 0, lambda name: 1)
    assert (module.rate == 0.5).all()


def test_a_matrix_nobody_spoke_of_is_an_error() -> None:
    with pytest.raises(TypeError, match=r"Bare\.rate has shape \(4, 3\) and no role: call set_role"):
        initialise(Bare(4, 3), inits.get("normal")(), 0, lambda name: 1)


def test_only_an_own_parameter_brings_its_own_fill() -> None:
    def fill(values: Tensor, generator: torch.Generator) -> None:
        values.fill_(7)

    module = Bare(4, 3)
    set_role(module, "rate", Role.OWN, fill=fill)
    initialise(module, inits.get("normal")(), 0, lambda name: 1)
    assert (module.rate == 7).all()
    with pytest.raises(TypeError, match="a fill goes with role OWN"):
        set_role(module, "rate", Role.MATRIX, fill=fill)
    with pytest.raises(TypeError, match="a fill goes with role OWN"):
        set_role(module, "rate", Role.OWN)


def test_a_tied_table_has_one_role_and_one_draw() -> None:
    tied = build(model_node(embedding="tied"))
    plain = build(model_node(embedding="plain"))
    assert torch.equal(tied.topology.out.weight, plain.topology.out.weight)
    assert [role for role, _ in roles(tied).values()].count(Role.HEAD) == 0
    assert [role for role, _ in roles(plain).values()].count(Role.HEAD) == 1


def test_streams_of_different_keys_are_different_and_of_the_same_keys_the_same() -> None:
    keys = [(0, "a"), (1, "a"), (0, "b"), (0, "a", "b"), (0, "a", 1)]
    firsts = [torch.rand(4, generator=generator_for(*key)) for key in keys]
    assert len({tuple(first.tolist()) for first in firsts}) == len(keys)
    assert torch.equal(torch.rand(4, generator=generator_for(0, "a")), firsts[0])


def test_a_linear_layer_draws_nothing_by_itself() -> None:
    before = torch.get_rng_state()
    Linear(3, 4, bias=True)
    assert torch.equal(torch.get_rng_state(), before)
