"""What a part refuses is told with the key that a user can set, wherever the part stands."""

import pytest

from tests.helpers import Node, common, option, refusal
from zoo.errors import PartError
from zoo.mixer import mixers
from zoo.option import Option


def of(axis: str, name: str, **values: object) -> Node:
    return option(axis, name) | values


def pattern(**entries: Node) -> Node:
    return {"name": "pattern", "layers": list(entries), **entries}


MHA, ROPE = of("mixer", "mha"), of("position", "rope")

WRONG: dict[str, tuple[Node, str]] = {
    "a mixer": ({"mixer": of("mixer", "mha", window=0)}, "model.mixer.window=0 must"),
    "a mixer of a pattern": ({"mixer": pattern(a=MHA, b=of("mixer", "mha", window=0))}, "model.mixer.b.window=0 must"),
    "its heads": ({"mixer": pattern(a=MHA, b=of("mixer", "mha", n_kv_heads=3))}, "of model.mixer.b.n_kv_heads=3"),
    "a cross-mixer": (
        {"topology": "encoder_decoder", "cross": of("mixer", "mha", head_dim=0)},
        "model.cross.head_dim=0 must",
    ),
    "an idle window of a pattern across": (
        {"topology": "encoder_decoder", "cross": pattern(a=MHA, b=of("mixer", "sliding"))},
        "model.cross.b.window=32 would change nothing",
    ),
    "a norm of a pattern": (
        {"norm": pattern(a=of("norm", "rmsnorm"), b=of("norm", "rmsnorm", eps=-1.0))},
        "model.norm.b.eps=-1.0 must",
    ),
    "an ffn of a pattern": (
        {"ffn": pattern(a=of("ffn", "relu"), b=of("ffn", "relu", d_ff=0))},
        "model.ffn.b.d_ff=0 must",
    ),
    "experts": ({"ffn": of("ffn", "moe", expert=of("ffn", "relu", ratio=0.0))}, "model.ffn.expert.ratio=0.0 must"),
    "experts of a pattern": (
        {"ffn": pattern(a=of("ffn", "relu"), b=of("ffn", "moe", expert=of("ffn", "relu", d_ff=0)))},
        "model.ffn.b.expert.d_ff=0 must",
    ),
    "what is no expert": (
        {"ffn": pattern(a=of("ffn", "relu"), b=of("ffn", "moe", expert=of("ffn", "none")))},
        "model/ffn@model.ffn.b.expert=",
    ),
    "a position scheme of a pattern": (
        {"position": pattern(a=ROPE, b=of("position", "rope", base=0.0))},
        "model.position.b.base=0.0 must",
    ),
    "one that does not fit its mixer": (
        {"position": pattern(a=ROPE, b=of("position", "rope", fraction=0.1))},
        "model.position.b.fraction=0.1",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_refusal_names_the_key_that_can_be_set(case: str) -> None:
    changes, key = WRONG[case]
    assert key in refusal(**changes)


def test_a_part_that_stands_in_no_config_names_its_own_key() -> None:
    with pytest.raises(PartError, match=r"^window=0 must be at least 1"):
        mixers.build(Option("attention", {"window": 0}), common())
