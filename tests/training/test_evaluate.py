import math
from dataclasses import astuple

import pytest
import torch

from tests.helpers import draw, model, real_of
from tests.training.tiny_training import CPU, VOCABULARY, Output, Tiny, task
from zoo.errors import UserError
from zoo.objective import Task
from zoo.training.evaluate import evaluate
from zoo.training.hits import hits
from zoo.training.loss import log_probabilities, target_nats
from zoo.training.optimizer.sgd import SGD

ONE_BYTE = torch.ones(VOCABULARY, dtype=torch.long)


class Uniform(Tiny):
    def forward(self, tokens):
        return Output(torch.zeros(*tokens.shape, 256))


def ragged(batch, order):
    """37 sequences of length 1 to 37, padded within their batch."""
    generator = torch.Generator().manual_seed(0)
    rows = [torch.randint(VOCABULARY, (length + 1,), generator=generator) for length in range(1, 38)]
    rows = [rows[i] for i in order]
    for start in range(0, len(rows), batch):
        chunk = rows[start : start + batch]
        tokens = torch.nn.utils.rnn.pad_sequence(chunk, batch_first=True)
        real = torch.nn.utils.rnn.pad_sequence([torch.ones(len(row) - 1) for row in chunk], batch_first=True)
        yield Task({"tokens": tokens[:, :-1]}, tokens[:, 1:], real)


def test_scores_do_not_depend_on_batch_size_or_order():
    model = Tiny()
    scores = [
        evaluate(model, ragged(batch, order), ONE_BYTE, device=CPU)
        for batch in (1, 4, 16, 37)
        for order in (range(37), reversed(range(37)))
    ]
    for one in scores[1:]:
        assert astuple(one)[:4] == pytest.approx(astuple(scores[0])[:4], rel=1e-6)
    assert scores[0].tokens == 37 * 38 // 2
    assert scores[0].loss == pytest.approx(scores[1].loss, rel=1e-13)  # sums are in float64


def padded(batch, side):
    """37 sequences of length 1 to 40, padded on that side to the longest of their batch, as a model is told."""
    lengths = [1 + 39 * i // 36 for i in range(37)]
    for start in range(0, len(lengths), batch):
        chunk = lengths[start : start + batch]
        real = real_of(chunk, max(chunk), side)
        rows = [draw(1, length + 1, seed=start + i)[0] for i, length in enumerate(chunk)]
        tokens, targets = torch.zeros(2, *real.shape, dtype=torch.long)
        tokens[real], targets[real] = torch.cat([row[:-1] for row in rows]), torch.cat([row[1:] for row in rows])
        yield Task({"tokens": tokens, "padding": real}, targets, real.float())


@pytest.mark.unchecked
@pytest.mark.parametrize("ffn", ["swiglu", "moe", "moe_sigmoid"])
@pytest.mark.parametrize("position", ["rope", "alibi", "learned"])
def test_scores_do_not_depend_on_batch_size_with_experts_and_padding_on_either_side(ffn, position):
    built = model(ffn=ffn, position=position)
    lengths = torch.ones(13, dtype=torch.long)
    sizes = [(batch, side) for batch in (1, 4, 16, 37) for side in ("left", "right")]
    scores = [evaluate(built, padded(batch, side), lengths, device=CPU) for batch, side in sizes]
    for one in scores[1:]:
        assert astuple(one)[:4] == pytest.approx(astuple(scores[0])[:4], rel=1e-6)
    assert scores[0].tokens == sum(1 + 39 * i // 36 for i in range(37))


def test_the_loss_is_a_mean_over_targets_not_over_batches():
    class Known(Tiny):
        def forward(self, tokens):
            nats = tokens.double()
            others = torch.log((1 - torch.exp(-nats)) / 10)[..., None].expand(-1, -1, 10)
            return Output(torch.cat([-nats[..., None], others], -1))

    one = Task({"tokens": torch.tensor([[5]])}, torch.tensor([[0]]), torch.ones(1, 1))
    nine = Task({"tokens": torch.ones(1, 9, dtype=torch.long)}, torch.zeros(1, 9, dtype=torch.long), torch.ones(1, 9))
    assert math.exp(evaluate(Known(), [one, nine], ONE_BYTE, device=CPU).loss) == pytest.approx(4.055, abs=1e-3)


@pytest.mark.parametrize("marks", [0, 1, 5])
def test_a_uniform_byte_model_reads_eight_bits_per_byte_with_any_number_of_marks(marks):
    targets = torch.arange(60).reshape(1, 60)
    targets[0, :marks] = 255
    lengths = torch.ones(256, dtype=torch.long)
    lengths[255] = 0
    batch = Task({"tokens": targets}, targets, torch.ones(1, 60))
    scores = evaluate(Uniform(), [batch], lengths, device=CPU)
    assert scores.bits_per_byte == pytest.approx(8.0, abs=1e-6)
    assert scores.tokens == 60


def test_bits_per_byte_counts_the_bytes_of_scored_targets_only():
    targets = torch.tensor([[1, 2, 3]])
    batch = Task({"tokens": targets}, targets, torch.tensor([[1.0, 1.0, 0.0]]))
    lengths = torch.zeros(256, dtype=torch.long)
    lengths[1], lengths[2], lengths[3] = 3, 1, 100
    assert evaluate(Uniform(), [batch], lengths, device=CPU).bits_per_byte == pytest.approx(16 / 4)


def test_bits_per_byte_is_none_with_a_reason_when_a_scored_length_is_unknown():
    targets = torch.tensor([[1, 2]])
    lengths = torch.ones(256, dtype=torch.long)
    lengths[0] = lengths[2] = -1
    scored = Task({"tokens": targets}, targets, torch.ones(1, 2))
    unscored = Task({"tokens": targets}, targets, torch.tensor([[1.0, 0.0]]))
    unknown, known = (evaluate(Uniform(), [one], lengths, device=CPU) for one in (scored, unscored))
    assert (unknown.bits_per_byte, "unknown" in unknown.no_bits_per_byte) == (None, True)
    assert (known.bits_per_byte, known.no_bits_per_byte) == (pytest.approx(8.0), None)
    assert evaluate(Uniform(), [scored], 0 * lengths, device=CPU).no_bits_per_byte == "no scored target stands for text"


def test_a_split_whose_bytes_are_unknown_has_no_bits_per_byte_and_says_why():
    targets = torch.tensor([[1, 2]])
    scored = Task({"tokens": targets}, targets, torch.ones(1, 2))
    lengths = torch.ones(256, dtype=torch.long)
    scores = evaluate(Uniform(), [scored], lengths, device=CPU, bytes_unknown="a mark is missing")
    assert (scores.bits_per_byte, scores.no_bits_per_byte) == (None, "a mark is missing")


def test_accuracy_is_the_share_of_scored_targets_that_come_first():
    class Copy(Tiny):
        def forward(self, tokens):
            return Output(torch.nn.functional.one_hot(tokens, VOCABULARY).float())

    targets = torch.tensor([[1, 2, 3, 4]])
    batch = Task({"tokens": torch.tensor([[1, 2, 0, 4]])}, targets, torch.tensor([[1.0, 1.0, 1.0, 0.0]]))
    assert evaluate(Copy(), [batch], ONE_BYTE, device=CPU).accuracy == pytest.approx(2 / 3)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("kinds", [2, 5, 10**6])
def test_a_hit_is_the_first_of_the_highest_logits(kinds, dtype):
    generator = torch.Generator().manual_seed(kinds)
    logits = torch.randint(-kinds, 0, (400, 7), generator=generator).to(dtype)
    targets = torch.randint(7, (400, 1), generator=generator)
    expected = logits.argmax(-1) == targets.squeeze(-1)
    assert 0 < expected.sum() < 400
    assert torch.equal(hits(logits.clone(), targets), expected)


def test_scores_are_those_of_all_logits_to_the_bit():
    """What is not scored is left out before probabilities are computed, and moves none."""
    model = Tiny()
    nats, right = 0.0, 0
    for one in ragged(8, range(37)):
        logits = model(**one.inputs).logits.detach()
        nats += target_nats(log_probabilities(logits), one.targets, one.weights).double().sum()
        right += ((logits.argmax(-1) == one.targets) & (one.weights > 0)).sum()
    found = evaluate(model, ragged(8, range(37)), ONE_BYTE, device=CPU)
    assert (found.loss, found.accuracy) == (float(nats / found.tokens), int(right) / found.tokens)


def test_evaluation_has_no_dropout_and_gives_each_modules_mode_back():
    model = Tiny(dropout=0.5)
    model.train()
    model.norm.eval()
    batches = list(ragged(8, range(37)))
    one, other = (evaluate(model, batches, ONE_BYTE, device=CPU) for _ in range(2))
    assert one == other
    assert model.training
    assert model.dropout.training
    assert not model.norm.training


def test_averaged_weights_are_scored_inside_averaged():
    model = Tiny()
    optimizer = SGD(model, lr=1.0, ema=0.9)
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    for _ in range(2):
        optimizer.step(1.0, optimizer.grad_norm())
    batches = list(ragged(8, range(37)))
    own = evaluate(model, batches, ONE_BYTE, device=CPU)
    with optimizer.averaged():
        averaged = evaluate(model, batches, ONE_BYTE, device=CPU)
    assert averaged.loss != own.loss
    assert evaluate(model, batches, ONE_BYTE, device=CPU) == own


def test_nothing_scored_is_an_error_that_says_so():
    one = task(torch.zeros(1, 4, dtype=torch.long))
    with pytest.raises(UserError, match="no target of this split is scored"):
        evaluate(Tiny(), [Task(one.inputs, one.targets, 0 * one.weights)], ONE_BYTE, device=CPU)
