"""`match=` finds what trying every number finds, and says how near it came."""

import pytest

from tests.helpers import composed
from zoo.errors import UserError
from zoo.jobs.matched import matched, reference_overrides
from zoo.matching.solve import TARGETS, Sizes, sizes_of, solve, with_value

V, CONTEXT = 300, 32
SMALL = ("model/size=tiny", "model.d_model=32")


def sizes(model: object) -> Sizes:
    return sizes_of(model, V, CONTEXT)  # type: ignore[arg-type]


@pytest.mark.unchecked  # hundreds of models that are only counted
@pytest.mark.parametrize(
    ("ffn", "target"), [("relu", "params"), ("swiglu", "flops"), ("moe", "params"), ("moe", "active_params")]
)
def test_the_hidden_width_is_the_best_of_all_widths(ffn: str, target: str) -> None:
    wanted = sizes(composed(*SMALL, "model/ffn=gelu")["model"])[target] * 1.07
    model = composed(*SMALL, f"model/ffn={ffn}")["model"]
    key = "ffn.expert.d_ff" if ffn == "moe" else "ffn.d_ff"
    misses = {width: abs(sizes(with_value(model, [key], width))[target] - wanted) for width in range(1, 160)}
    best = min(misses, key=lambda width: (misses[width], width))
    node, solved, why_not = solve(model, target, wanted, sizes, 0.05)
    assert solved is not None
    assert (solved.key, solved.value) == (f"model.{key}", best)
    assert sizes(node)[target] == solved.got[target]
    assert why_not is None


def test_the_state_is_matched_by_heads_then_by_the_width_of_the_model() -> None:
    model = composed(*SMALL, "model/mixer=mha")["model"]
    half = sizes(model)["state"] / 2
    _, solved, why_not = solve(model, "state", half, sizes, 0.01)
    assert solved is not None
    assert (solved.key, solved.value, why_not) == ("model.d_model", 16, None)
    third = composed("model/size=tiny", "model.d_model=36", "model.n_heads=6", "model/mixer=mha")["model"]
    _, solved, _ = solve(third, "state", sizes(third)["state"] / 6 * 1.003, sizes, 0.01)
    assert solved is not None
    assert (solved.key, solved.value) == ("model.mixer.n_kv_heads", 1)


def test_what_no_number_reaches_is_said() -> None:
    model = composed(*SMALL)["model"]
    _, solved, why_not = solve(model, "params", 10.0, sizes, 0.01)
    assert solved is not None
    assert why_not is not None
    assert "model.d_model=8 comes nearest" in why_not


def test_the_same_model_is_left_as_it_is() -> None:
    node = composed(*SMALL)
    found, report = matched({"target": "params", "reference": None, "tolerance": 0.01}, node, list(SMALL), V)
    assert found == node
    assert report is not None
    assert (report["solved"], report["residual"]) == (None, 0.0)


def test_a_pattern_is_turned_in_all_its_entries() -> None:
    model = composed(*SMALL, "model.n_layers=4")["model"]
    model = model | {
        "ffn": {"name": "pattern", "layers": ["a", "b"], "a": model["ffn"], "b": {**model["ffn"], "name": "gelu"}}
    }
    node, solved, _ = solve(model, "params", sizes(model)["params"] * 1.2, sizes, 0.01)
    assert solved is not None
    assert node["ffn"]["a"]["d_ff"] == node["ffn"]["b"]["d_ff"] == solved.value


@pytest.mark.unchecked
def test_every_other_size_is_reported_too() -> None:
    overrides = [*SMALL, "model/mixer=mqa", "model/ffn=relu"]
    for target in TARGETS:
        _, report = matched(
            {"target": target, "reference": None, "tolerance": 0.01}, composed(*overrides), overrides, V
        )
        assert report is not None
        assert abs(report["residual"]) <= 0.01
        assert report["not_matched"].keys() == TARGETS.keys() - {target}


def test_the_reference_is_the_command_without_its_swaps() -> None:
    given = [
        "model=llama",
        "model/ffn=relu",
        "model.ffn.d_ff=9",
        "model/mixer@model.cross=mha",
        "model.d_model=8",
        "match=params",
    ]
    assert reference_overrides(None, given) == ["model=llama", "model.d_model=8"]
    assert reference_overrides("gpt2", given) == ["model=gpt2", "model.d_model=8"]
    assert reference_overrides(["data=toy"], given) == ["data=toy"]


def test_a_reference_without_a_state_gives_no_share_of_it_and_cannot_be_matched_in_it() -> None:
    bert, mine = {"reference": "bert", "tolerance": 0.01}, composed(*SMALL, "model/ffn=relu")
    _, report = matched({"target": "params", **bert}, mine, [*SMALL, "model/ffn=relu"], V)
    assert report is not None
    assert report["got"] > 0
    assert report["not_matched"].keys() == TARGETS.keys() - {"params", "state"}
    with pytest.raises(UserError, match=r"match\.target=state: the reference has none"):
        matched({"target": "state", **bert}, mine, list(SMALL), V)


def test_a_wrong_match_is_refused() -> None:
    for node, says in (
        ({"target": "size"}, "match.target='size'"),
        ({"target": "params", "tolerance": 2.0}, "match.tolerance"),
    ):
        with pytest.raises(UserError, match=says):
            matched(node, composed(*SMALL), list(SMALL), V)
