"""Equal budgets: read between validations, never beyond them."""

import json
from pathlib import Path

import pytest

from tests.study.simulated import noisy, write_study
from zoo.study.budgets import views
from zoo.study.evidence import sort_out
from zoo.study.loading import load_runs
from zoo.study.report.budgets import verdict
from zoo.study.report.numbers import at, grid


def test_a_line_is_read_between_its_points_and_nowhere_else() -> None:
    line = ((1.0, 2.0, 4.0), (5.0, 3.0, 2.0))
    assert [at(line, x) for x in (1.0, 1.5, 2.0, 3.0, 4.0)] == [5.0, 4.0, 3.0, 2.5, 2.0]
    assert [at(line, x) for x in (0.9, 4.1)] == [None, None]
    assert at(((), ()), 1.0) is None
    assert grid([line, ((2.0, 3.0, 9.0), (0.0, 0.0, 0.0))]) == [2.0, 3.0, 4.0]


def test_the_budget_is_what_all_runs_reached(tmp_path: Path) -> None:
    """`slow` needs twice the FLOPs and the time, so it is read at half of its training there."""
    run = {"slow": {"costs": {"flops_per_token": 4000.0}, "speed": 0.5}}
    folder = write_study(
        tmp_path, noisy({"base": 0.0, "slow": -0.1}, sd=0, shared=0), ("base", "slow"), range(3), run=run
    )
    found = {view.axis: view for view in views(sort_out(load_runs(folder)))}
    assert found["steps"].budget == 300
    assert found["flops"].budget == 3 * 2000 * 300 * 128
    assert found["seconds"].budget == pytest.approx(3.0)
    assert [found[axis].winner for axis in ("steps", "tokens", "flops", "seconds")] == ["slow", "slow", "base", "base"]
    lead = found["flops"].lead("slow")
    assert lead is not None
    assert lead.n == 3
    half = 2.0 - 0.1 + 3 * (2.718281828**-2) - 3 * (2.718281828**-4)  # its curve at step 150
    assert found["flops"].losses["slow"][0] == pytest.approx(half, abs=1e-6)


def test_a_last_validation_of_the_whole_split_is_not_mixed_with_those_of_a_part(tmp_path: Path) -> None:
    folder = write_study(tmp_path, noisy({"base": 0.0, "other": 0.1}, sd=0, shared=0), seeds=range(2))
    for file in tmp_path.glob("run-*/metrics.jsonl"):
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        for line in lines:
            if line["split"] == "validation" and line["step"] == 300:
                line |= {"scored": 9000, "loss": line["loss"] + 1.0}
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    for view in views(sort_out(load_runs(folder))):
        assert view.axis != "steps" or view.budget == 225  # the last validation before
        assert max(max(one.values()) for one in view.losses.values()) < 2.3


@pytest.mark.parametrize(
    ("noise", "says"),
    [
        (0.0, "The winner changes with the budget: `slow` is ahead at equal steps and equal tokens, `base` at"),
        (2.0, "`slow` is ahead at equal steps and equal tokens; that the winner changes with the budget is not shown:"),
    ],
)
def test_a_lead_within_noise_is_no_change_of_the_winner(tmp_path: Path, noise: float, says: str) -> None:
    """`slow` is read at half of its training at equal FLOPs and seconds, where `base` leads by 0.25 in the mean."""
    run = {"slow": {"costs": {"flops_per_token": 4000.0}, "speed": 0.5}}
    folder = write_study(
        tmp_path,
        lambda variant, tuning, seed: 2.0 - 0.1 * (variant == "slow") + noise * (seed - 1) * (variant == "slow"),
        ("base", "slow"),
        range(3),
        run=run,
    )
    assert verdict(views(sort_out(load_runs(folder)))).startswith(says)
