"""The signature is the schema: what YAML may say, and what is refused with the place of the error."""

import re
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers import composed
from zoo.config import parse
from zoo.errors import UserError
from zoo.option import Option, Pattern
from zoo.part import Part
from zoo.schema import convert, fields, parse_choice, parse_option, typed

Layout = Literal["half", "interleaved"]


class Example(Part):
    def __init__(self, width: int, *, rate: float, heads: int | None = None, layout: Layout = "half"):
        super().__init__()


def refused(value: Any, annotation: Any) -> str:
    with pytest.raises(UserError) as error:
        convert(value, annotation, "model.x")
    assert str(error.value).startswith("model.x")
    return str(error.value)


@pytest.mark.parametrize(
    ("value", "annotation", "expected"),
    [
        (3, int, 3),
        (3, float, 3.0),
        (1e-4, float, 1e-4),
        (True, bool, True),
        ("a", str, "a"),
        (None, int | None, None),
        (3, int | None, 3),
        (2, float | None, 2.0),
        ("half", Layout, "half"),
        ([0.9, 1], tuple[float, float], (0.9, 1.0)),
        (["a", "b"], tuple[str, ...], ("a", "b")),
    ],
)
def test_a_value_becomes_the_type_of_the_signature(value: Any, annotation: Any, expected: Any) -> None:
    found = convert(value, annotation, "model.x")
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("value", "annotation", "words"),
    [
        ("1e-4", float, "a number"),
        ("3", int, "a whole number"),
        (3.0, int, "a whole number"),
        (True, int, "a whole number"),
        (False, float, "a number"),
        (1, bool, "true or false"),
        ("true", bool, "true or false"),
        ("no", bool, "true or false"),
        (False, str, "text"),
        (None, int, "a whole number"),
        ("x", int | None, "a whole number"),
        (True, int | None, "a whole number"),
        (False, Layout, "choose from half, interleaved"),
        ("hafl", Layout, "did you mean half"),
        ("ab", tuple[str, ...], "a list"),
        ([0.9], tuple[float, float], "2 entries"),
        ([0.9, "1e-1"], tuple[float, float], r"\[1\] must be a number"),
    ],
)
def test_a_value_of_another_type_is_refused_with_the_type_it_should_have(
    value: Any, annotation: Any, words: str
) -> None:
    assert re.search(words, refused(value, annotation))


@settings(deadline=None, max_examples=50, database=None)
@given(st.one_of(st.text(), st.booleans(), st.none(), st.lists(st.integers())))
def test_nothing_but_a_number_is_ever_read_as_a_number(value: Any) -> None:
    for annotation in (int, float):
        refused(value, annotation)


@settings(deadline=None, max_examples=50, database=None)
@given(st.one_of(st.integers(), st.floats(allow_nan=False), st.booleans(), st.none()))
def test_a_name_is_never_made_of_another_value(value: Any) -> None:
    refused(value, str)
    with pytest.raises(UserError, match=r"model\.norm must be a norm, chosen with model/norm="):
        parse_option("norm", {"name": value}, "model.norm")
    with pytest.raises(UserError, match=r"^objective must be an objective, chosen with objective="):
        parse_option("objective", 5, "objective")
    with pytest.raises(UserError, match=r"model\.norm must be a norm"):
        parse_option("norm", value, "model.norm")


@pytest.mark.parametrize("text", ["1e-4", "1e-04", "1.0e-4", "0.0001", ".0001", "1_0e-5"])
def test_a_number_means_the_same_however_it_is_written(text: str) -> None:
    assert composed(f"optimizer.lr={text}")["optimizer"]["lr"] == 1e-4


def test_a_number_in_quotes_is_refused_with_its_key() -> None:
    with pytest.raises(UserError, match=r"optimizer\.lr must be a number, got '1e-4' \(str\)"):
        parse(composed("optimizer.lr='1e-4'"))


def test_yaml_may_set_exactly_the_keyword_only_half_of_a_signature() -> None:
    assert list(fields(Example)) == ["rate", "heads", "layout"]
    assert typed(Example, {"rate": 1}, "model.x", "it") == {"rate": 1.0}


def test_an_unknown_key_is_refused_with_a_suggestion_and_the_keys() -> None:
    with pytest.raises(UserError, match=r"m\.head: it has no 'head' \(did you mean heads\?\); its keys: rate, heads"):
        typed(Example, {"rate": 1.0, "head": 2}, "m", "it")
    with pytest.raises(UserError, match=r"m\.width: it has no 'width'"):
        typed(Example, {"rate": 1.0, "width": 2}, "m", "it")
    with pytest.raises(UserError, match=r"'eps'.* its keys: none"):
        parse_option("norm", {"name": "none", "eps": 1.0}, "model.norm")


def test_a_missing_key_is_refused_by_name() -> None:
    with pytest.raises(UserError, match=r"m: it needs rate"):
        typed(Example, {}, "m", "it")


def test_an_option_cannot_be_written_to() -> None:
    option = parse_option("norm", {"name": "rmsnorm", "eps": 1}, "model.norm")
    assert option == Option("rmsnorm", {"eps": 1.0})
    with pytest.raises(TypeError):
        option.values["eps"] = 2.0  # type: ignore[index]


def test_an_option_inside_an_option_is_checked_like_any_other() -> None:
    node = {"name": "moe", "expert": {"name": "relu", "ratio": 2}}
    assert parse_option("ffn", node, "model.ffn").values["expert"] == Option("relu", {"ratio": 2.0})
    with pytest.raises(UserError, match=r"model\.ffn\.expert\.width: ffn 'relu' has no 'width'"):
        parse_option("ffn", {"name": "moe", "expert": {"name": "relu", "width": 2}}, "model.ffn")


def pattern(*layers: str, **options: Any) -> dict[str, Any]:
    return {"name": "pattern", "layers": list(layers), **options}


LOCAL, WIDE = {"name": "rmsnorm", "eps": 1.0}, {"name": "none"}


def test_a_pattern_repeats_over_the_layers() -> None:
    choice = parse_choice("norm", pattern("a", "a", "b", a=LOCAL, b=WIDE), "model.norm")
    assert isinstance(choice, Pattern)
    assert [choice.at(i).name for i in range(7)] == ["rmsnorm", "rmsnorm", "none"] * 2 + ["rmsnorm"]
    assert [choice.key(i) for i in range(4)] == ["a", "a", "b", "a"]
    assert choice.distinct == {"a": Option("rmsnorm", {"eps": 1.0}), "b": Option("none")}


@pytest.mark.parametrize(
    ("node", "words"),
    [
        (pattern("a", a=LOCAL, b=WIDE), r"model\.norm\.b is in no layer of model\.norm\.layers=\['a'\]"),
        (
            pattern("a", "loca", a=LOCAL, local=WIDE),
            r"layers names 'loca' \(did you mean local\?\); choose from a, local",
        ),
        (pattern(a=LOCAL), r"model\.norm\.layers is empty"),
        (pattern("a", a=LOCAL) | {"layers": "a"}, r"model\.norm\.layers must be a list"),
        ({"name": "pattern", "a": LOCAL}, r"model\.norm\.layers must be a list"),
        (pattern("a", a=LOCAL | {"epsilon": 1}), r"model\.norm\.a\.epsilon: norm 'rmsnorm' has no 'epsilon'"),
        (pattern("a", a={"name": "rms"}), r"no norm 'rms'"),
        (pattern("a", a=pattern("b", b=LOCAL)), r"no norm 'pattern'"),
    ],
)
def test_a_pattern_with_an_unused_or_unknown_entry_is_refused(node: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        parse_choice("norm", node, "model.norm")
