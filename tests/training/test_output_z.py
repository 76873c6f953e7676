"""The z-loss of the output and that of a router share a name in the literature, and nothing here."""

import pytest
import torch

from tests.helpers import build, draw, model_node, option
from tests.training.tiny_training import CPU, Tiny, joined, tasks
from zoo.objective import Task
from zoo.training.loop import Step, fit
from zoo.training.loss import squared_log_z
from zoo.training.optimizer.sgd import SGD
from zoo.training.schedule.constant import Constant


def train(model: torch.nn.Module, source=tasks, **values: float) -> list[Step]:
    return list(fit(model, SGD(model, lr=0.1), Constant(warmup=0), source, steps=2, seed=0, device=CPU, **values))


def test_it_is_the_mean_of_the_squared_log_of_the_denominator_over_scored_targets() -> None:
    logits = torch.randn(2, 3, 5, generator=torch.Generator().manual_seed(0))
    weights = torch.tensor([[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]])
    rows = logits[weights > 0].double().exp().sum(-1).log() ** 2
    assert squared_log_z(logits, weights).item() == pytest.approx(rows.mean().item())
    logits[0, 1] = 1e30  # not scored
    assert squared_log_z(logits, weights).item() == pytest.approx(rows.mean().item())


def test_off_it_costs_nothing_and_on_it_is_reported_beside_an_unchanged_loss() -> None:
    plain, off, on = Tiny(), Tiny(), Tiny()
    a, b, c = train(plain), train(off, output_z=0.0), train(on, output_z=0.1)
    assert all(torch.equal(x, y) for x, y in zip(plain.parameters(), off.parameters(), strict=True))
    assert [step.auxiliary for step in b] == [{}, {}]
    assert a[0].loss == c[0].loss
    assert c[0].auxiliary["output_z"] > 0
    assert not all(torch.equal(x, y) for x, y in zip(plain.parameters(), on.parameters(), strict=True))


def test_each_z_loss_changes_its_own_term_only() -> None:
    tokens = draw(2, 9)
    batch = [Task({"tokens": tokens[:, :-1]}, tokens[:, 1:], torch.ones(2, 8))]

    def first(router_z: float, output_z: float) -> dict[str, float]:
        built = build(model_node(ffn=option("ffn", "moe") | {"balance": 0.0, "router_z": router_z}, n_layers=1))
        return dict(train(built, lambda step: batch, output_z=output_z)[0].auxiliary)

    both = first(0.1, 0.1)
    assert first(0.0, 0.0) == {}
    assert first(0.1, 0.0) == {"router_z": both["router_z"]}
    assert first(0.0, 0.1) == {"output_z": both["output_z"]}


def test_micro_batches_change_it_only_by_rounding() -> None:
    one, other = Tiny(), Tiny()
    cut, whole = train(one, lambda step: tasks(step, micro=4), output_z=0.5), train(other, _joined, output_z=0.5)
    assert cut[0].auxiliary["output_z"] == pytest.approx(whole[0].auxiliary["output_z"], rel=1e-5)
    for x, y in zip(one.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(x, y, rtol=1e-5, atol=1e-6)


def _joined(step: int) -> list[Task]:
    return [joined(tasks(step, micro=4))]
