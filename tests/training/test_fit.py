import math

import pytest
import torch

from tests.training.tiny_training import CPU, VOCABULARY, Tiny, joined, task, tasks
from zoo.luck import derived_seed
from zoo.objective import Task
from zoo.training.divergence import Diverged
from zoo.training.loop import fit
from zoo.training.optimizer.adamw import AdamW
from zoo.training.optimizer.sgd import SGD
from zoo.training.schedule.constant import Constant
from zoo.training.schedule.linear import Linear as LinearSchedule

FLAT = Constant(warmup=0)


def train(model, source=tasks, *, steps=3, optimizer=None, schedule=FLAT, **values):
    optimizer = optimizer or SGD(model, lr=0.1, momentum=0.0, clip=None)
    return list(fit(model, optimizer, schedule, source, steps=steps, device=CPU, **{"seed": 0, **values}))


def same_weights(one, other, **tolerance):
    for a, b in zip(one.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(a, b, **tolerance)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_accumulation_is_one_big_batch_whatever_the_micro_batches_score(smoothing):
    one, other = Tiny(), Tiny()
    first = train(one, lambda step: tasks(step, micro=4), label_smoothing=smoothing)
    second = train(other, lambda step: [joined(tasks(step, micro=4))], label_smoothing=smoothing)
    same_weights(one, other, rtol=1e-5, atol=1e-6)
    for a, b in zip(first, second, strict=True):
        assert (a.step, a.tokens, a.scored, a.lr) == (b.step, b.tokens, b.scored, b.lr)
        assert (a.loss, a.grad_norm) == pytest.approx((b.loss, b.grad_norm), rel=1e-5)


def test_the_loss_is_the_mean_over_targets_not_over_micro_batches():
    class Fixed(Tiny):
        """−log p[0] is 4 after token 1 and 1 after token 2."""

        def forward(self, tokens):
            nats = torch.where(tokens == 1, 4.0, 1.0)
            rest = torch.log((1 - torch.exp(-nats)) / (VOCABULARY - 1))[..., None].expand(-1, -1, VOCABULARY - 1)
            output = super().forward(tokens)
            return type(output)(torch.cat([-nats[..., None], rest], -1) + 0 * output.logits)

    one = task(torch.tensor([[1, 0]]))
    nine = task(torch.tensor([[2] + [0] * 9]))
    nine = Task({"tokens": torch.full((1, 9), 2)}, nine.targets, nine.weights)
    (step,) = train(Fixed(), lambda step: [one, nine], steps=1)
    assert step.loss == pytest.approx(1.3)


def test_an_auxiliary_loss_keeps_its_size_under_accumulation():
    whole = task((torch.arange(8 * 7) * 5 % VOCABULARY).reshape(8, 7))
    parts = [
        Task({"tokens": whole.inputs["tokens"][i : i + 2]}, whole.targets[i : i + 2], whole.weights[i : i + 2])
        for i in range(0, 8, 2)
    ]
    one, other = Tiny(auxiliary=3.0), Tiny(auxiliary=3.0)
    (a,), (b,) = train(one, lambda step: [whole], steps=1), train(other, lambda step: parts, steps=1)
    same_weights(one, other, rtol=1e-5, atol=1e-6)
    assert a.auxiliary["balance"] == pytest.approx(b.auxiliary["balance"], rel=1e-5)


def test_an_auxiliary_loss_is_trained_on_and_reported_apart_from_the_loss():
    plain, more = Tiny(), Tiny(auxiliary=3.0)
    (a,), (b,) = train(plain, steps=1), train(more, steps=1)
    assert a.loss == b.loss
    assert a.auxiliary == {}
    assert b.auxiliary["balance"] > 0
    assert not torch.equal(plain.up.weight, more.up.weight)


def test_a_micro_batch_without_targets_contributes_nothing():
    def with_empty(step):
        empty = task(torch.ones(3, 7, dtype=torch.long))
        return [Task(empty.inputs, empty.targets, 0 * empty.weights), *tasks(step, micro=1)]

    one, other = Tiny(auxiliary=3.0), Tiny(auxiliary=3.0)
    first, second = train(one, with_empty), train(other, lambda step: tasks(step, micro=1))
    same_weights(one, other, rtol=0, atol=0)
    assert [step.loss for step in first] == [step.loss for step in second]
    assert [step.tokens for step in first] == [36, 72, 108]  # positions, scored or not


def test_a_micro_batch_without_targets_is_not_even_computed():
    class Fragile(Tiny):
        def forward(self, tokens):
            assert tokens.shape[1] == 6
            return super().forward(tokens)

    empty = task(torch.ones(3, 5, dtype=torch.long))
    train(Fragile(), lambda step: [*tasks(step), Task(empty.inputs, empty.targets, 0 * empty.weights)])


def test_an_update_uses_its_own_gradients_only():
    model, copied = Tiny(), Tiny()
    train(model, steps=2)
    copied.load_state_dict(model.state_dict())
    for one in (model, copied):  # only the first still has gradients of the update before
        train(one, steps=3, start=2)
    same_weights(model, copied, rtol=0, atol=0)


def test_an_update_without_targets_leaves_the_weights_and_uses_up_its_number(caplog):
    def source(step):
        parts = tasks(step)
        return [Task(one.inputs, one.targets, 0 * one.weights) for one in parts] if step == 1 else parts

    model = Tiny()
    optimizer = AdamW(model, lr=1e-3)
    weights = []
    steps = []
    for step in fit(model, optimizer, LinearSchedule(warmup=0), source, steps=4, seed=0, device=CPU):
        steps.append(step)
        weights.append(model.up.weight.detach().clone())
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[1], weights[2])
    assert (steps[1].loss, steps[1].grad_norm, steps[1].scored) == (None, None, 0)
    assert [step.lr for step in steps] == pytest.approx([1e-3, 2e-3 / 3, 1e-3 / 3, 0])
    assert caplog.text.count("no target") == 1


def test_a_run_that_often_scores_nothing_says_so_once(caplog):
    def source(step):
        empty = [Task(one.inputs, one.targets, 0 * one.weights) for one in tasks(step)]
        return [*empty, *tasks(step, micro=1)] if step in (0, 9) else empty

    steps = train(Tiny(), source, steps=10, schedule=LinearSchedule(warmup=0))
    assert [step.step for step in steps if step.loss is None] == list(range(2, 10))
    assert [step.lr for step in steps] == pytest.approx([0.1 * (9 - i) / 9 for i in range(10)])
    assert all(step.loss is None or math.isfinite(step.loss) for step in steps)
    assert [record.getMessage().partition(":")[0] for record in caplog.records] == ["step 2 scores no target"]


def test_the_token_axis_counts_every_position_given_to_the_model_padding_and_source_too():
    class Reads(Tiny):
        def forward(self, tokens, source, padding):
            return super().forward(tokens)

    def padded(step):
        parts = [task(torch.ones(5, 65, dtype=torch.long)) for _ in range(12)]
        real = torch.arange(64).expand(5, -1) < 40
        extra = {"source": torch.ones(5, 30, dtype=torch.long), "padding": real}
        return [Task({**one.inputs, **extra}, one.targets, real.float()) for one in parts]

    steps = train(Reads(), padded, steps=3)
    assert [step.tokens for step in steps] == [12 * 5 * (64 + 30) * n for n in (1, 2, 3)]
    assert {step.positions for step in steps} == {12 * 5 * (64 + 30)}
    assert {step.scored for step in steps} == {12 * 5 * 40}


def test_a_short_last_window_counts_by_its_targets():
    model = Tiny()
    steps = train(model, lambda step: tasks(step, micro=4 if step < 2 else 2))
    assert len(steps) == 3
    assert [step.tokens for step in steps] == [72, 144, 180]


@pytest.mark.parametrize("micro", [1, 4])
def test_the_schedule_counts_updates_and_the_logged_rate_is_the_one_used(micro):
    model = Tiny()
    optimizer = SGD(model, lr=0.5, momentum=0.0, clip=None)
    schedule = LinearSchedule(warmup=4)
    seen = []
    for step in fit(model, optimizer, schedule, lambda s: tasks(s, micro=micro), steps=10, seed=0, device=CPU):
        seen.append(step.lr)
        assert {group["lr"] for inner in optimizer.inner for group in inner.param_groups} == {step.lr}
    assert seen == pytest.approx([0.5 * schedule.factor(i, 10) for i in range(10)])
    assert seen[:4] == [0.125, 0.25, 0.375, 0.5]


def test_clipping_acts_once_on_the_whole_update():
    one, other = Tiny(), Tiny()
    first = train(one, lambda s: tasks(s, micro=4), optimizer=SGD(one, lr=1.0, momentum=0.0, clip=0.01))
    second = train(other, lambda s: [joined(tasks(s, micro=4))], optimizer=SGD(other, lr=1.0, momentum=0.0, clip=0.01))
    same_weights(one, other, rtol=1e-5, atol=1e-6)
    assert [s.grad_norm for s in first] == pytest.approx([s.grad_norm for s in second], rel=1e-5)
    assert min(step.grad_norm for step in first) > 0.01


def test_dropout_depends_on_seed_and_step_and_on_nothing_before():
    def weights(seed=0, disturb=False):
        model = Tiny(dropout=0.5)
        optimizer = SGD(model)
        for _ in fit(model, optimizer, FLAT, tasks, steps=3, seed=seed, device=CPU):
            if disturb:
                torch.rand(7)
        return model.down.weight

    assert torch.equal(weights(), weights(disturb=True))
    assert not torch.equal(weights(), weights(seed=1))
    assert len({derived_seed(0, "dropout", step, micro) for step in range(50) for micro in range(4)}) == 200


def test_the_micro_batches_of_an_update_have_different_dropout():
    part = task(torch.arange(14).reshape(2, 7) % VOCABULARY)
    one, other = Tiny(dropout=0.5), Tiny(dropout=0.5)
    train(one, lambda step: [part], steps=1)
    train(other, lambda step: [part, part], steps=1)
    assert not torch.allclose(one.down.weight, other.down.weight)


def test_the_updates_of_a_run_have_different_dropout():
    part = task(torch.arange(14).reshape(2, 7) % VOCABULARY)
    one, other = Tiny(dropout=0.5), Tiny(dropout=0.5)
    train(one, lambda step: [part], steps=1)
    train(other, lambda step: [part], steps=2, start=1)
    assert not torch.allclose(one.down.weight, other.down.weight)


def test_stopping_and_starting_again_is_going_straight():
    straight, stopped = Tiny(dropout=0.5), Tiny(dropout=0.5)
    all_steps = train(straight, steps=6, optimizer=AdamW(straight))
    optimizer = AdamW(stopped)
    generator = fit(stopped, optimizer, FLAT, tasks, steps=6, seed=0, device=CPU)
    first = [next(generator) for _ in range(3)]
    rest = train(stopped, steps=6, optimizer=optimizer, start=3, tokens=first[-1].tokens)
    assert [(s.step, s.loss, s.tokens, s.lr) for s in first + rest] == [
        (s.step, s.loss, s.tokens, s.lr) for s in all_steps
    ]
    same_weights(straight, stopped, rtol=0, atol=0)


def test_bfloat16_autocast_trains_float32_weights_close_to_float32():
    one, other = Tiny(), Tiny()
    a, b = train(one, autocast=torch.bfloat16), train(other)
    assert one.up.weight.dtype == torch.float32
    assert a[0].loss != b[0].loss
    assert [step.loss for step in a] == pytest.approx([step.loss for step in b], rel=2e-2)


@pytest.mark.parametrize("compiled", ["no", "wrapped", "in place"])
def test_divergence_in_the_forward_pass_names_the_layer_and_spares_the_weights(compiled):
    model = Tiny(tied=True)
    wrapped = torch.compile(model, backend="eager") if compiled == "wrapped" else model
    if compiled == "in place":
        model.compile(backend="eager")

    def source(step):
        if step == 2:
            with torch.no_grad():
                model.down.weight[0, 0] = math.inf  # as an overflow in that layer would do
        return tasks(step)

    with pytest.raises(Diverged) as caught:
        train(wrapped, source, steps=5, optimizer=AdamW(wrapped))
    assert (caught.value.step, caught.value.layer) == (3, "down")
    others = [parameter for name, parameter in model.named_parameters() if name != "down.weight"]
    assert all(parameter.isfinite().all() for parameter in others)


def test_divergence_in_the_backward_pass_names_the_parameter_nearest_to_the_loss():
    class Steep(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            return gradient * math.inf

    class Model(Tiny):
        def forward(self, tokens):
            x = self.embedding(tokens)
            return type(super().forward(tokens))(self.head(x + Steep.apply(self.down(self.up(self.norm(x)).relu()))))

    model = Model()
    before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    with pytest.raises(Diverged, match=r"step 1: .* first in down\.weight; the weights are those of step 0"):
        train(model, optimizer=AdamW(model))
    assert all(torch.equal(parameter, before[name]) for name, parameter in model.named_parameters())


def test_a_compiled_model_trains_as_the_bare_one():
    bare, other = Tiny(dropout=0.5), Tiny(dropout=0.5)
    compiled = torch.compile(other, backend="eager")
    train(bare, optimizer=AdamW(bare))
    train(compiled, optimizer=AdamW(compiled))
    same_weights(bare, other)
