import math
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from zoo.errors import UserError
from zoo.schema import fields, parse_option
from zoo.training.schedule import schedules

CONF = Path(__file__).parents[2] / "conf" / "schedule"


def series(name, steps, **values):
    schedule = schedules.get(name)(**values)
    return [schedule.factor(step, steps) for step in range(steps)]


def test_warm_up_rises_from_one_share_to_the_peak():
    for name in schedules.names():
        assert series(name, 10, warmup=4)[:4] == [0.25, 0.5, 0.75, 1.0], name


def test_cosine_is_half_a_wave_that_ends_at_the_floor():
    wave = [0.2 + 0.8 * (1 + math.cos(math.pi * p / 5)) / 2 for p in range(6)]
    assert series("cosine", 10, warmup=4, floor=0.2) == pytest.approx([0.25, 0.5, 0.75, 1.0, *wave])


def test_linear_is_a_straight_line_that_ends_at_the_floor():
    assert series("linear", 10, warmup=4, floor=0.5) == pytest.approx(
        [0.25, 0.5, 0.75, 1.0, 1.0, 0.9, 0.8, 0.7, 0.6, 0.5]
    )


def test_inverse_sqrt_is_the_formula_of_2017_over_its_peak():
    d_model, warmup = 512, 40
    paper = [d_model**-0.5 * min(u**-0.5, u * warmup**-1.5) for u in range(1, 201)]
    assert series("inverse_sqrt", 200, warmup=warmup) == pytest.approx([rate / max(paper) for rate in paper])


@pytest.mark.parametrize(("shape", "cool"), [("linear", lambda q: 1 - q), ("sqrt", lambda q: 1 - math.sqrt(q))])
def test_wsd_is_flat_and_then_cools_down_to_the_floor(shape, cool):
    got = series("wsd", 12, warmup=2, decay=0.4, shape=shape, floor=0.1)
    assert got == pytest.approx([0.5, 1.0] + [1.0] * 6 + [0.1 + 0.9 * cool(q) for q in (0.25, 0.5, 0.75, 1.0)])


@pytest.mark.parametrize("name", ["cosine", "linear", "wsd"])
@given(warmup=st.integers(0, 20), rest=st.integers(1, 50), floor=st.floats(0, 1))
def test_the_last_update_has_the_floor_exactly(name, warmup, rest, floor):
    assert series(name, warmup + rest, warmup=warmup, floor=floor)[-1] == pytest.approx(floor, abs=1e-15)


@pytest.mark.parametrize("name", schedules.names())
@given(warmup=st.integers(0, 20), rest=st.integers(1, 50))
def test_factors_lie_between_zero_and_the_peak_and_only_the_last_may_be_zero(name, warmup, rest):
    factors = series(name, warmup + rest, warmup=warmup)
    assert all(0 < one <= 1 for one in factors[:-1])
    assert 0 <= factors[-1] <= 1
    assert rest == 1 or max(factors) == 1


def test_without_warm_up_the_first_update_has_the_peak():
    for name in schedules.names():
        assert series(name, 10, warmup=0)[0] == 1.0, name


def test_a_factor_does_not_depend_on_where_the_run_resumed():
    for name in schedules.names():
        assert schedules.get(name)(warmup=4).factor(3, 10) == series(name, 10, warmup=4)[3]


@pytest.mark.parametrize("warmup", [10, 11])
def test_a_warm_up_that_fills_the_run_is_refused_with_both_numbers(warmup):
    for name in schedules.names():
        with pytest.raises(UserError, match=rf"schedule.warmup={warmup}.*budget.steps=10"):
            series(name, 10, warmup=warmup)


@pytest.mark.parametrize("values", [{"warmup": -1}, {"floor": 1.5}, {"floor": -0.1}, {"decay": 0.0}, {"decay": 1.1}])
def test_impossible_values_are_refused_by_name(values):
    (key,) = values
    with pytest.raises(UserError, match=f"schedule.{key}="):
        schedules.get("wsd")(**values)


@pytest.mark.parametrize("name", schedules.names())
def test_every_schedule_has_a_file_that_sets_all_its_keys(name):
    text = (CONF / f"{name}.yaml").read_text()
    node = yaml.safe_load(text)
    assert text.startswith("# ")
    assert node.keys() - {"name"} == fields(schedules.get(name)).keys()
    schedules.build(parse_option("schedule", node, "schedule"))


@pytest.mark.parametrize("name", schedules.names())
def test_a_warm_up_below_one_is_a_share_of_the_steps(name):
    assert series(name, 40, warmup=0.1) == series(name, 40, warmup=4)
    assert series(name, 4, warmup=0.1) == series(name, 4, warmup=0)
    with pytest.raises(UserError, match="a number of updates, or a share"):
        series(name, 40, warmup=2.5)
