"""A study file is read whole, or refused with one sentence."""

from typing import Any

import pytest

from zoo.command.overrides import key_of, merge, values_of, write_value
from zoo.errors import UserError
from zoo.study.plan import Plan
from zoo.study.spec import parse_study
from zoo.study.unnamed import unnamed_study

NODE: dict[str, Any] = {
    "question": "Which norm?",
    "expected": "a tie",
    "source": "none",
    "cost": "a minute",
    "variants": [
        {"name": "a", "overrides": [], "says": "as it is"},
        {"name": "b", "overrides": ["model/norm=layernorm"], "says": "another norm"},
        {"name": "c", "overrides": ["model/ffn=relu", "model/norm=none"], "says": "two changes"},
    ],
    "grid": {},
    "reference": None,
    "chain": False,
    "fixed": ["data=toy", "budget.steps=3"],
    "match": "none",
    "tuning": {},
    "tuning_seeds": 2,
    "seeds": [0, 1, 2],
    "metric": "test loss",
    "published": [{"better": "a", "worse": "b", "source": "a paper", "inversion": None}],
}


def test_variants_of_a_chain_have_the_changes_of_those_before_them_and_a_key_only_once() -> None:
    alone = parse_study(NODE, "x").variants
    chained = parse_study(NODE | {"chain": True}, "x").variants
    assert [one.overrides for one in alone] == [
        (),
        ("model/norm=layernorm",),
        ("model/ffn=relu", "model/norm=none"),
    ]
    assert chained[2].overrides == ("model/norm=none", "model/ffn=relu")


def test_a_grid_is_the_product_of_its_values() -> None:
    study = parse_study(
        NODE | {"variants": [], "published": [], "grid": {"model/norm": ["none", "rmsnorm"], "model.n_layers": [1, 2]}},
        "x",
    )
    assert [one.name for one in study.variants] == ["none 1", "none 2", "rmsnorm 1", "rmsnorm 2"]
    assert study.variants[1].overrides == ("model/norm=none", "model.n_layers=2")


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"variants": []}, "either study.variants or study.grid"),
    ({"grid": {"model/norm": ["none"]}}, "either study.variants or study.grid"),
    ({"variants": [{"name": "a"}, {"name": "a"}]}, "two are called 'a'"),
    ({"variants": [{"name": "a", "override": []}]}, "study.variants[0].override is no key"),
    ({"variants": [{"name": "a", "overrides": ["seed=1"]}]}, "'seed=1' belongs to the study as a whole"),
    ({"fixed": ["match=params"]}, "'match=params' belongs to the study as a whole"),
    ({"fixed": ["budget.steps=3", "budget.steps=4"]}, "sets one key twice"),
    ({"fixed": ["no override"]}, "'no override' is no override: a value is set by key=value"),
    ({"fixed": ["seed=[0"]}, "'seed=[0' is no override: its [ is not closed"),
    ({"fixed": ["se;ed=3"]}, "'se;ed=3' is no override: 'se;ed' is no key; a value is set by key=value"),
    ({"fixed": ["optimizer lr=3"]}, "'optimizer lr' is no key"),
    ({"fixed": ["optimizer.betas=[0.9,]"]}, "is no override: its list has an empty entry"),
    ({"fixed": ["seed=a;b"]}, "is no override: quote special characters, as in key='value'"),
    ({"fixed": "data=toy"}, "study.fixed must be a list"),
    ({"reference": "d"}, "no variant 'd'"),
    ({"match": "size"}, "study.match='size'"),
    ({"metric": "train loss"}, "study.metric='train loss' is no metric"),
    ({"metric": "validation loss at 64"}, "other lengths are scored on the test split only"),
    ({"variants": [{"name": "a"}, {"name": "b", "against": "c"}], "published": []}, "'b' is compared with 'c'"),
    ({"variants": [{"name": "a"}, {"name": "b", "against": "a"}], "chain": True}, "a study that is no chain"),
    ({"seeds": []}, "study.seeds=[]"),
    ({"seeds": [1, 1]}, "each once"),
    ({"seeds": [-1, 1]}, "none negative"),
    ({"tuning_seeds": 4}, "between 1 and 3"),
    ({"tuning": {"model/norm": ["none"]}}, "is set by a variant too"),
    ({"tuning": {"optimizer.lr": [1, 1]}}, "lists one value twice"),
    ({"published": [{"better": "a", "worse": "z", "source": "s"}]}, "no variant 'z'"),
    ({"question": " "}, "study.question is empty"),
    ({"questions": "?"}, "study.questions is no key"),
]


@pytest.mark.parametrize(("change", "says"), WRONG, ids=[says for _, says in WRONG])
def test_what_is_wrong_is_refused(change: dict[str, Any], says: str) -> None:
    with pytest.raises(UserError) as error:
        parse_study(NODE | change, "x")
    assert says in str(error.value)


def test_tuning_values_are_run_with_the_first_seeds_and_the_best_with_the_others() -> None:
    plan = Plan(parse_study(NODE | {"tuning": {"optimizer.lr": [0.1, 0.2]}}, "x"), ["runtime.threads=1"])
    first = plan.first()
    assert len(first) == 3 * 2 * 2
    assert {job.seed for job in first} == {0, 1}
    second = plan.second({"a": {"optimizer.lr": 0.2}, "c": {"optimizer.lr": 0.1}}, len(first))
    assert [(job.job, job.variant, job.seed) for job in second] == [(12, "a", 2), (13, "c", 2)]
    assert second[0].overrides == ("data=toy", "budget.steps=3", "runtime.threads=1", "optimizer.lr=0.2", "seed=2")


def test_without_tuning_all_seeds_are_run_at_once() -> None:
    plan = Plan(parse_study(NODE, "x"), [])
    assert len(plan.first()) == 9
    assert plan.second({}, 9) == []


def test_a_matched_variant_names_its_reference() -> None:
    plan = Plan(parse_study(NODE | {"match": "params"}, "x"), ["runtime.threads=1"])
    a, b, _ = plan.first()[:3]
    assert not any(one.startswith("match") for one in a.overrides)
    assert b.overrides[-3:-1] == ("match=params", "match.reference=['data=toy','budget.steps=3']")


def test_a_sweep_has_variants_tuning_and_seeds() -> None:
    study, shared = unnamed_study(["model/norm=none,rmsnorm", "optimizer.lr=0.1,0.2", "seed=3,4", "data=toy"])
    assert [one.name for one in study.variants] == ["none", "rmsnorm"]
    assert study.tuning == {"optimizer.lr": (0.1, 0.2)}
    assert study.seeds == (3, 4)
    assert shared == ["data=toy"]
    assert len(Plan(study, shared).first()) == 8
    study, _ = unnamed_study(["optimizer.lr=0.1,0.2", "seed=range(3)"])
    assert [one.name for one in study.variants] == ["lr=0.1", "lr=0.2"]
    assert study.seeds == (0, 1, 2)


@pytest.mark.parametrize(
    "value", ["a b", "it's, [x]={y}", "back\\slash", "end\\", "", None, True, 1.5, ["a=b", "c'"], {"k": [1]}]
)
def test_a_value_is_written_so_that_it_reads_back(value: Any) -> None:
    from hydra.core.override_parser.overrides_parser import OverridesParser

    assert OverridesParser.create().parse_override(f"key={write_value(value)}").value() == value


def test_lists_are_laid_over_each_other_by_key() -> None:
    assert merge(["a=1", "model/norm=x"], ["+model/norm=y", "b=2"]) == ["a=1", "+model/norm=y", "b=2"]
    assert key_of("model/mixer@model.cross=mha") == "model/mixer@model.cross"
    assert values_of("seed=0,1") == ["seed=0", "seed=1"]
    with pytest.raises(UserError, match="interval"):
        values_of("lr=interval(0,1)")
