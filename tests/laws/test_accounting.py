"""What a model is counted to cost is what it costs: parameters, floating-point operations, numbers kept per row."""

from collections.abc import Callable

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from tests.helpers import (
    EVERY_OPTION,
    PRESETS,
    TOPOLOGIES,
    VOCABULARY,
    Node,
    build,
    call,
    draw,
    model_node,
    option,
    preset,
)
from zoo.accounting import costs
from zoo.assembly import assemble
from zoo.config import ModelConfig, parse_model
from zoo.option import Option
from zoo.roles import Role, roles

Count = Callable[[ModelConfig, Option], int]


def norm(config: ModelConfig, layer: int, width: int | None = None) -> int:
    chosen = config.norm.at(layer)
    vectors = {"layernorm": 1 + chosen.values.get("bias", True), "rmsnorm": 1, "none": 0}
    if chosen.name not in vectors:
        pytest.skip(f"no count by hand of norm '{chosen.name}'")
    return vectors[chosen.name] * (config.d_model if width is None else width)


def biased(config: ModelConfig, chosen: Option) -> bool:
    return config.bias if chosen.values["bias"] is None else chosen.values["bias"]


def attention(config: ModelConfig, chosen: Option) -> int:
    D, H = config.d_model, config.n_heads
    K = chosen.values["head_dim"] or D // H
    G = chosen.values["n_kv_heads"] or H
    return 2 * D * (H + G) * K + biased(config, chosen) * ((H + 2 * G) * K + D)


def dense(matrices: int) -> Count:
    """`matrices` of D × F, all but one of them from D to F."""

    def count(config: ModelConfig, chosen: Option) -> int:
        D, multiple = config.d_model, chosen.values["multiple_of"]
        F = chosen.values["d_ff"] or int(D * chosen.values["ratio"] / multiple + 0.5) * multiple
        return matrices * D * F + biased(config, chosen) * ((matrices - 1) * F + D)

    return count


def moe(config: ModelConfig, chosen: Option) -> int:
    expert = chosen.values["expert"]
    return chosen.values["experts"] * (config.d_model + PARAMETERS[f"ffn {expert.name}"](config, expert))


def linear_head(config: ModelConfig, chosen: Option) -> int:
    return VOCABULARY * chosen.values["bias"]


def transform_head(config: ModelConfig, chosen: Option) -> int:
    bias = chosen.values["bias"]
    return config.d_model * (config.d_model + bias) + norm(config, 0) + VOCABULARY * bias


PARAMETERS: dict[str, Count] = {
    "mixer attention": attention,
    "ffn relu": dense(2),
    "ffn gelu": dense(2),
    "ffn swiglu": dense(3),
    "ffn moe": moe,
    "ffn moe_sigmoid": moe,
    "position learned": lambda config, chosen: chosen.values["max_positions"] * config.d_model,
    "position none": lambda config, chosen: 0,
    "position rope": lambda config, chosen: 0,
    "position rope_linear": lambda config, chosen: 0,
    "position rope_llama3": lambda config, chosen: 0,
    "position rope_ntk": lambda config, chosen: 0,
    "position sinusoidal": lambda config, chosen: 0,
    "head linear": linear_head,  # its table is counted with the embeddings
    "head transform": transform_head,
}
"""Counted by hand from the papers' equations; a part that is not here is skipped by name."""


def part(family: str, config: ModelConfig, chosen: Option) -> int:
    if f"{family} {chosen.name}" not in PARAMETERS:
        pytest.skip(f"no count by hand of {family} '{chosen.name}'")
    return PARAMETERS[f"{family} {chosen.name}"](config, chosen)


def stack(config: ModelConfig, depth: int, cross: bool) -> int:
    total = sum(part("position", config, chosen) for chosen in config.position.distinct.values())
    total += norm(config, 0) * config.embedding.values["norm"]
    for i in range(depth):
        total += part("mixer", config, config.mixer.at(i)) + part("ffn", config, config.ffn.at(i)) + 2 * norm(config, i)
        if cross:
            total += part("mixer", config, (config.cross or config.mixer).at(i)) + norm(config, i)
    return total + (config.block.at(depth - 1).name == "pre_norm") * norm(config, depth - 1)


def counted(node: Node) -> int:
    config = parse_model(node)
    tie, table = config.embedding.values["tie"], VOCABULARY * config.d_model
    total = part("head", config, config.head)
    if config.topology.name != "encoder_decoder":
        return total + stack(config, config.n_layers, False) + table * (1 if tie != "none" else 2)
    depths = [config.topology.values[f"n_{side}_layers"] or config.n_layers for side in ("encoder", "decoder")]
    tables = {"none": 3, "output": 2, "all": 1}[tie]
    return total + stack(config, depths[0], False) + stack(config, depths[1], True) + tables * table


def assert_counts_hold(node: Node) -> None:
    """Parameters by hand = the model's = the record's; FLOPs of one row = what torch counts on the plain backend."""
    model = build(node)
    parameters = sum(parameter.numel() for parameter in model.parameters())
    assert parameters == costs(model, 8).parameters
    source = {"source": draw(1, 7)} if model.topology.traits.reads_source else {}
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        call(model, draw(1, 11), **source)
    assert model.flops(11, 7 if source else None) == counter.get_total_flops()
    assert parameters == counted(node)  # last: a part without a count by hand is skipped here, with all else held


@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize("base", PRESETS)
def test_counts_of_every_preset_are_measured_ones(base: str, topology: str) -> None:
    assert_counts_hold(preset(base) | {"topology": option("topology", topology)})


@pytest.mark.parametrize("base", ["modern", "transformer_2017"])
@pytest.mark.parametrize(("axis", "name"), EVERY_OPTION)
def test_counts_of_every_option_are_measured_ones(axis: str, name: str, base: str) -> None:
    assert_counts_hold(model_node(base, **{axis: name}))


ODD = {"head_dim": 6, "n_kv_heads": 2, "bias": True}


@pytest.mark.parametrize(
    "changes",
    [
        {"mixer": option("mixer", "mha") | ODD},
        {"ffn": option("ffn", "swiglu") | {"ratio": 3.3, "multiple_of": 7, "bias": True}},
        {"ffn": option("ffn", "moe") | {"experts": 5, "k": 3, "expert": option("ffn", "relu") | {"d_ff": 9}}},
        {"topology": option("topology", "encoder_decoder") | {"n_encoder_layers": 1, "n_decoder_layers": 3}},
        {"topology": "encoder_decoder", "cross": option("mixer", "mha") | ODD, "embedding": "tied"},
        {"head": option("head", "transform") | {"bias": False}, "norm": "layernorm", "block": "post_norm"},
    ],
)
def test_counts_hold_for_unusual_values(changes: Node) -> None:
    assert_counts_hold(model_node(**changes))


@pytest.mark.parametrize("name", PRESETS)
def test_the_costs_of_a_preset_are_counted_without_memory_for_it(name: str) -> None:
    config = parse_model(preset(name, "base"))
    with torch.device("meta"):
        model = assemble(config, VOCABULARY)
    assert costs(model, 64).parameters == counted(preset(name, "base"))
    lengths = (32, 32) if model.topology.traits.reads_source else (64, 0)
    assert costs(model, 64).flops_per_token * 64 == model.flops(*lengths)


@pytest.mark.parametrize("name", PRESETS)
def test_active_parameters_leave_out_the_experts_a_token_does_not_pass(name: str) -> None:
    config, model = parse_model(preset(name)), build(preset(name))
    idle = 0
    if config.ffn.at(0).name == "moe":
        values = config.ffn.at(0).values
        idle = config.n_layers * (values["experts"] - values["k"]) * part("ffn", config, values["expert"])
    tables = {name for name, (role, _) in roles(model).items() if role in (Role.EMBEDDING, Role.POSITION, Role.HEAD)}
    cost = costs(model, 16)
    assert cost.active_parameters == cost.parameters - idle
    assert cost.embedding_parameters == sum(p.numel() for name, p in model.named_parameters() if name in tables)


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_what_a_row_keeps_is_keys_and_values_as_far_as_the_window_reaches(topology: str) -> None:
    pattern = option("mixer", "local_global")
    mixer = pattern | {
        "layers": ["local", "local", "local", "global"],
        "local": pattern["local"] | {"window": 8, "n_kv_heads": 2},
    }
    model = build(model_node(topology=topology, mixer=mixer))
    heads, local, everything = 4, 3 * 2 * 2 * 4, 2 * 4 * 4  # three local layers of 2 heads, a global one of 4, width 4
    assert heads == model_node()["n_heads"]
    for length in (5, 30):
        kept = local * min(length, 8) + everything * length
        if topology == "encoder_decoder":
            kept += (local + everything) * 9  # no window cuts a memory
        assert model.state_elements(length, 9) == (0 if topology == "encoder_only" else kept)
