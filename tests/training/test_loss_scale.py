"""float16: what is logged, clipped and applied are the true gradients, whatever the loss was multiplied by."""

import math

import pytest
import torch

from tests.training.tiny_training import CPU, Tiny, tasks
from zoo.training.divergence import Diverged
from zoo.training.loop import Step, fit
from zoo.training.loss_scale import LossScale
from zoo.training.optimizer import optimizers
from zoo.training.schedule.constant import Constant


def train(model: Tiny, *, scale: LossScale | None, steps: int = 4, clip: float | None = 0.05, **values) -> list[Step]:
    flat = Constant(warmup=0)
    source = values.pop("source", tasks)
    optimizer = optimizers.get(values.pop("optimizer", "sgd"))(model, lr=0.1, clip=clip)
    dtype = None if scale is None else torch.float16
    return list(fit(model, optimizer, flat, source, steps=steps, seed=0, device=CPU, autocast=dtype, scale=scale))


@pytest.mark.parametrize("name", optimizers.names())
def test_gradients_are_divided_in_every_group_of_an_optimizer(name: str) -> None:
    """Each of them once, though some optimizers are several."""
    a, b = (train(Tiny(), scale=one, steps=1, optimizer=name) for one in (LossScale(CPU), None))
    assert a[0].grad_norm == pytest.approx(b[0].grad_norm, rel=1e-2)


@pytest.mark.parametrize("start", [1.0, 2.0**10, 2.0**16])
def test_the_norm_is_that_of_the_true_gradient_and_clipping_acts_once_on_it(start: float) -> None:
    """Two micro-batches an update; were gradients clipped while scaled, or once each, the weights would tell."""
    scaled, plain = Tiny(), Tiny()
    a, b = train(scaled, scale=LossScale(CPU, start)), train(plain, scale=None)
    assert all(step.grad_norm > 0.05 for step in b)  # so that clipping acts
    assert [step.grad_norm for step in a] == pytest.approx([step.grad_norm for step in b], rel=1e-2)
    for name, parameter in plain.named_parameters():
        torch.testing.assert_close(scaled.get_parameter(name), parameter, rtol=2e-2, atol=2e-3)


def test_an_update_that_overflows_is_dropped_and_halves_the_scale() -> None:
    model, scale = Tiny(), LossScale(CPU, 2.0**40)
    before = {name: parameter.clone() for name, parameter in model.named_parameters()}
    (step,) = train(model, scale=scale, steps=1)
    assert step.grad_norm is None
    assert math.isfinite(step.loss)
    assert scale.value == 2.0**39
    assert all(torch.equal(parameter, before[name]) for name, parameter in model.named_parameters())
    steps = train(model, scale=scale, steps=60)
    made = [step.grad_norm is not None for step in steps]
    assert not made[0]
    assert sum(made) > 30


def test_a_loss_that_is_not_finite_still_ends_the_run() -> None:
    model = Tiny()
    with torch.no_grad():
        model.down.weight[0, 0] = math.inf
    with pytest.raises(Diverged):
        train(model, scale=LossScale(CPU))


def test_gradients_that_overflow_at_every_scale_are_divergence() -> None:
    model, scale = Tiny(), LossScale(CPU, 2.0)
    model.up.weight.register_hook(lambda grad: grad * math.inf)
    with pytest.raises(Diverged):
        train(model, scale=scale, steps=5)


def test_a_scale_goes_on_from_its_state() -> None:
    one, other = LossScale(CPU, 2.0**40), LossScale(CPU)
    train(Tiny(), scale=one, steps=3)
    other.load_state_dict(one.state_dict())
    assert other.value == one.value == 2.0**37
