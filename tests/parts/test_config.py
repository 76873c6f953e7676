"""The typed boundary: an experiment comes out, or one error that names the key."""

import dataclasses

import pytest
import torch

from tests.helpers import Node, build, composed, draw, learned, logits, model, model_node, option, refusal
from zoo.command.compose import compose
from zoo.config import parse, parse_model, plain
from zoo.errors import UserError


def whole_refusal(node: Node) -> str:
    """What is said against an experiment."""
    with pytest.raises(UserError) as refused:
        parse(node)
    return str(refused.value)


def test_an_experiment_cannot_be_written_to() -> None:
    experiment = parse(composed())
    with pytest.raises(dataclasses.FrozenInstanceError):
        experiment.seed = 1  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        experiment.model.d_model = 1  # type: ignore[misc]


def test_an_unknown_key_is_refused_with_a_suggestion_at_every_depth() -> None:
    node = composed()
    assert whole_refusal(node | {"sede": 1}).startswith("sede is no key of the config (did you mean seed?)")
    assert "did you mean batch_size?" in whole_refusal(node | {"budget": node["budget"] | {"batchsize": 1}})
    assert "model.d_modle is no key of the config (did you mean d_model?)" in refusal(d_modle=3)
    assert "model.mixer.n_kv_head: " in refusal(mixer=option("mixer", "mha") | {"n_kv_head": 2})
    assert "did you mean n_kv_heads?" in refusal(mixer=option("mixer", "mha") | {"n_kv_head": 2})


def test_a_key_of_another_option_is_refused() -> None:
    assert "'rope' has no 'eps'" in refusal(position=option("position", "rope") | {"eps": 1.0})
    assert "'swiglu' has no 'experts'" in refusal(ffn=option("ffn", "swiglu") | {"experts": 8})


def test_a_missing_key_is_refused_by_name() -> None:
    node = model_node()
    with pytest.raises(UserError, match="model needs d_model, mixer"):
        parse_model({key: value for key, value in node.items() if key not in ("d_model", "mixer")})
    whole = composed()
    assert "budget must be a mapping" in whole_refusal({key: value for key, value in whole.items() if key != "budget"})


def test_all_missing_values_are_named_at_once() -> None:
    config = compose([])
    config.seed, config.optimizer.lr = "???", "???"
    with pytest.raises(UserError, match=r"no value for optimizer\.lr, seed; set it as in optimizer\.lr="):
        plain(config)


def test_a_reference_to_nothing_is_refused() -> None:
    config = compose([])
    config.out = "${nowhere}"
    with pytest.raises(UserError, match=r"does not resolve: .*nowhere"):
        plain(config)


@pytest.mark.parametrize("key", ["d_model", "n_layers", "n_heads"])
@pytest.mark.parametrize("value", [0, -2])
def test_a_size_below_one_is_refused(key: str, value: int) -> None:
    assert f"model.{key}={value} must be at least 1" in refusal(**{key: value})


@pytest.mark.parametrize(("key", "value"), [("d_model", "64"), ("d_model", 64.0), ("n_layers", True), ("bias", 1)])
def test_a_size_of_another_type_is_refused(key: str, value: object) -> None:
    assert f"model.{key} must be" in refusal(**{key: value})


@pytest.mark.parametrize("dropout", [-0.1, 1.0, 2.0])
def test_a_dropout_rate_that_is_no_rate_is_refused(dropout: float) -> None:
    assert f"model.dropout={dropout} must be at least 0 and below 1" in refusal(dropout=dropout)


@pytest.mark.parametrize("key", ["steps", "batch_size", "context"])
def test_a_count_below_one_is_refused(key: str) -> None:
    node = composed()
    assert f"budget.{key}=0 must be at least 1" in whole_refusal(node | {"budget": node["budget"] | {key: 0}})


def test_a_name_that_yaml_reads_as_a_truth_value_is_refused() -> None:
    assert "model.norm must be a norm" in refusal(norm={"name": False})
    with pytest.raises(UserError, match=r"model\.norm must be a norm"):
        build(model_node() | {"norm": False})


def test_a_cross_mixer_that_is_not_set_is_like_the_mixer() -> None:
    node = model_node(topology="encoder_decoder", mixer="mqa")
    unset, null, same = (node, node | {"cross": None}, node | {"cross": option("mixer", "mqa")})
    expected = logits(build(unset), draw(2))
    assert all(torch.equal(logits(build(other), draw(2)), expected) for other in (null, same))


def test_a_pattern_of_cross_mixers_may_not_be_longer_than_the_decoder() -> None:
    assert "model.cross.global is in no layer" in refusal(
        topology=option("topology", "encoder_decoder") | {"n_decoder_layers": 1, "n_encoder_layers": 3},
        cross=option("mixer", "local_global") | {"local": option("mixer", "mha")},
    )


def test_a_window_of_a_cross_mixer_is_refused() -> None:
    assert "model.cross.window=32 would change nothing" in refusal(topology="encoder_decoder", cross="sliding")


def test_positions_that_mark_the_embeddings_are_no_part_of_a_pattern() -> None:
    schemes = {"t": learned(64), "n": option("position", "none")}
    message = refusal(position={"name": "pattern", "layers": ["t", "n"], **schemes})
    assert "model.position.t marks the embeddings once, below the first layer" in message


def test_a_stack_builds_only_the_positions_of_its_own_layers() -> None:
    schemes = {"t": option("position", "t5"), "r": option("position", "rope")}
    topology = option("topology", "encoder_decoder") | {"n_encoder_layers": 1, "n_decoder_layers": 2}
    built = model(topology=topology, position={"name": "pattern", "layers": ["r", "t"], **schemes})
    assert set(built.topology.encoder.positions) == {"r"}
    assert set(built.topology.stack.positions) == {"r", "t"}


def test_a_cross_mixer_that_nothing_would_use_is_refused() -> None:
    message = "model.cross is set, but topology 'decoder_only' reads no other sequence"
    assert message in refusal(cross=option("mixer", "mqa"))


def test_a_mistyped_key_is_refused_in_python_as_on_the_command_line() -> None:
    with pytest.raises(UserError, match=r"no key 'model\.d_modle' \(did you mean model\.d_model\?\)"):
        compose(["model.d_modle=3"])
    with pytest.raises(UserError, match=r"no model/norm 'rmsnrom' \(did you mean rmsnorm\?\)"):
        compose(["model/norm=rmsnrom"])
