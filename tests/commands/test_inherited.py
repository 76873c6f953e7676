"""What a plugin inherits was said of another constructor: what a run is known by does not take it for its own."""

from collections.abc import Mapping
from typing import Annotated, Any

import pytest
import torch
from torch import Tensor, nn

from tests.helpers import composed
from zoo.assembly import assemble
from zoo.common import Common
from zoo.config import parse
from zoo.experiment import Experiment
from zoo.ffn.dense import Plain
from zoo.ffn.moe import MixtureOfExperts
from zoo.jobs.idle import refuse_idle
from zoo.jobs.science import science_of
from zoo.matching.solve import knobs_of
from zoo.mixer.attention import Attention
from zoo.option import Option
from zoo.registry import FAMILIES
from zoo.topology import Text
from zoo.topology.encoder_decoder import EncoderDecoder
from zoo.training.optimizer import Optimizer

DENSE = {"ratio": 4.0, "multiple_of": 1, "bias": False}


class Square(Plain):
    """As wide as the stream unless `d_ff` says otherwise, and then `ratio` times as wide as that."""

    def __init__(self, common: Common, *, d_ff: int | None = None, ratio: float = 1.0):
        width = int(ratio * (common.d_model if d_ff is None else d_ff))
        super().__init__(common, d_ff=width, **DENSE)

    def activate(self, x: Tensor) -> Tensor:
        return x.relu() ** 2


class Told(Square):
    """The same, and says so."""

    @classmethod
    def unset(cls, common: Common, values: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"d_ff": common.d_model}


class Few(MixtureOfExperts):
    """Experts of half the stream."""

    def __init__(self, common: Common, *, inner: Annotated[Option, "ffn"]):
        super().__init__(common, expert=inner)


class Far(Attention):
    """Sees a window of a memory too."""

    def __init__(self, common: Common, *, window: int | None = None):
        super().__init__(common, window=window)


class Twice(EncoderDecoder):
    """Reads once more from both sides."""

    def forward(self, target: Text, source: Text | None, *rest: Any) -> Any:
        return super().forward(target, source, *rest)


class Decaying(Optimizer):
    """Has no key `weight_decay`."""

    def __init__(self, model: nn.Module, *, decay_embeddings: bool = False):
        super().__init__(model, [torch.optim.SGD(model.parameters())], lr=0.1, clip=None, ema=None)


@pytest.fixture(autouse=True)
def plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """The classes above, registered."""
    kinds = {"ffn": (Square, Told, Few), "mixer": (Far,), "topology": (Twice,), "optimizer": (Decaying,)}
    for family, classes in kinds.items():
        for cls in classes:
            monkeypatch.setitem(FAMILIES[family]._classes, cls.__name__.lower(), cls)


def experiment(*overrides: str, **model: object) -> Experiment:
    """The command's experiment with these parts and values of the model."""
    node = composed(*overrides)
    return parse({**node, "model": node["model"] | model})


def known(*overrides: str, **model: object) -> Mapping[str, Any]:
    """By what that run is known."""
    return science_of(experiment(*overrides, **model), "")["model"]


def ffn(name: str, **values: object) -> dict[str, object]:
    return {"ffn": {"name": name, **values}}


def test_a_null_that_means_something_else_is_another_run() -> None:
    wide = 4 * composed()["model"]["d_model"]
    null, said = ffn("square", d_ff=None), ffn("square", d_ff=wide)
    with torch.device("meta"):
        one, other = (sum(p.numel() for p in assemble(experiment(**of).model, 9).parameters()) for of in (null, said))
    assert one < other
    assert known(**null) != known(**said)


def test_a_key_that_a_plugin_lacks_is_not_asked_for() -> None:
    assert known(**ffn("square"))["ffn"]["d_ff"] is None
    assert "bias" not in known(**ffn("square"))["ffn"]


def test_what_a_plugin_says_of_its_own_null_holds() -> None:
    width = composed()["model"]["d_model"]
    assert known(**ffn("told", d_ff=width)) == known(**ffn("told", d_ff=None)) != known(**ffn("told", d_ff=4 * width))


def test_a_part_inside_a_plugin_is_known_as_written() -> None:
    inner = composed("model/ffn=swiglu")["model"]["ffn"]
    null, said = (ffn("few", inner=inner | {"bias": bias}) for bias in (None, False))
    assert known(**null) != known(**said)


def test_a_window_of_a_plugin_may_act_across() -> None:
    mixer, whole = {"name": "far", "window": 8}, {"name": "far", "window": None}
    pairs = "model=transformer_2017"
    assert known(pairs, mixer=mixer, cross=whole) != known(pairs, mixer=mixer)
    assert known(pairs, mixer=mixer, cross=mixer) == known(pairs, mixer=mixer)


def test_the_stacks_of_a_plugin_may_see_in_either_way(monkeypatch: pytest.MonkeyPatch) -> None:
    traits = FAMILIES["topology"].get("decoder_only").traits
    monkeypatch.setattr(Twice, "traits", traits)
    values = {"topology": {"name": "twice", "n_encoder_layers": None, "n_decoder_layers": None}}
    found = [known("model/position=t5", f"model.position.both_sides={one}", **values) for one in ("false", "null")]
    assert found[0] != found[1]


def test_what_stands_in_the_place_of_another_key_is_not_inherited() -> None:
    refuse_idle(experiment(**ffn("square", d_ff=16, ratio=2.0)), ["model.ffn.ratio=2.0"])
    depths = {"topology": {"name": "twice", "n_encoder_layers": 1, "n_decoder_layers": 1}}
    refuse_idle(experiment("model=transformer_2017", **depths), ["model.n_layers=4"])


def test_an_optimizer_without_a_weight_decay_may_leave_tables_alone() -> None:
    node = composed() | {"optimizer": {"name": "decaying", "decay_embeddings": True}}
    refuse_idle(parse(node), ["optimizer.decay_embeddings=true"])


def test_a_knob_without_its_key_is_not_turned() -> None:
    inner = composed("model/ffn=swiglu")["model"]["ffn"]
    turned = {key for keys, _, _ in knobs_of(composed()["model"] | ffn("few", inner=inner)) for key in keys}
    assert turned == {"d_model", "mixer.n_kv_heads"}
