"""Who attends to whom, with how many heads, on both backends."""

import pytest
import torch
from torch import Tensor

from tests.helpers import (
    call,
    close,
    context,
    draw,
    logits,
    model,
    noise,
    option,
    part,
    plain_sequence,
    randomise,
    real_of,
    refusal,
)
from zoo.context import Context, Scores
from zoo.dropout import Dropout
from zoo.mixer import Mixer
from zoo.mixer.backend import BACKENDS
from zoo.sequence import Sequence

backends = pytest.mark.parametrize("backend", BACKENDS)


def weights(seen: Context, backend: str, *, window: int | None = None) -> Tensor:
    """(rows, T, S): what each query takes from each key when all scores are alike."""
    length = seen.keys.positions.shape[1]
    rows = 1 if seen.keys.real is None else len(seen.keys.real)
    q, k = torch.zeros(rows, 1, seen.queries.positions.shape[1], length), torch.zeros(rows, 1, length, length)
    values = torch.eye(length).expand(rows, 1, -1, -1)
    return BACKENDS[backend](q, k, values, seen, Scores(1.0, window, Dropout(0.0)))[:, 0]


@backends
def test_consecutive_query_heads_share_a_key_value_head(backend: str) -> None:
    """Four query heads, two key–value heads; the values say which of the two was read."""
    q, k = noise(1, 4, 3, 2), noise(1, 2, 3, 2, seed=1)
    v = torch.tensor([10.0, 20.0])[None, :, None, None].expand(1, 2, 3, 2)
    mixed = BACKENDS[backend](q, k, v, context(plain_sequence(3)), Scores(1.0, None, Dropout(0.0)))
    assert close(mixed[0, :, 0, 0], torch.tensor([10.0, 10.0, 20.0, 20.0]))


@backends
@pytest.mark.parametrize("groups", [1, 2, 4])
def test_grouped_heads_are_all_heads_with_repeated_keys_and_values(groups: int, backend: str) -> None:
    q, k, v = noise(2, 4, 5, 3), noise(2, groups, 5, 3, seed=1), noise(2, groups, 5, 3, seed=2)
    scores = Scores(0.5, None, Dropout(0.0))
    grouped = BACKENDS[backend](q, k, v, context(plain_sequence(5)), scores)
    k, v = (x.repeat_interleave(4 // groups, dim=1) for x in (k, v))
    assert close(grouped, BACKENDS["plain"](q, k, v, context(plain_sequence(5)), scores))


def test_as_many_key_value_heads_as_heads_is_multi_head_and_one_is_multi_query() -> None:
    tokens = draw(2)
    for groups, name in ((4, "mha"), (1, "mqa")):
        assert torch.equal(
            logits(model(mixer=option("mixer", "gqa") | {"n_kv_heads": groups}), tokens),
            logits(model(mixer=name), tokens),
        )


@pytest.mark.parametrize("groups", [0, 3, 8])
def test_key_value_heads_that_do_not_divide_the_heads_are_refused(groups: int) -> None:
    message = refusal(mixer=option("mixer", "mha") | {"n_kv_heads": groups})
    assert message == f"model.n_heads=4 must be a multiple of model.mixer.n_kv_heads={groups}"


def test_heads_that_do_not_divide_the_width_are_refused_unless_their_width_is_said() -> None:
    assert refusal(n_heads=3, mixer="mha").startswith("model.d_model=16 must be a multiple of model.n_heads=3")
    wide = model(n_heads=3, mixer=option("mixer", "mha") | {"head_dim": 6})
    assert wide.get_parameter("topology.stack.blocks.0.mixer.q.weight").shape == (18, 16)
    assert logits(wide, draw(1)).isfinite().all()


def test_a_head_width_of_null_is_width_by_heads() -> None:
    null, said = (model(mixer=option("mixer", "mha") | {"head_dim": width}) for width in (None, 4))
    assert torch.equal(logits(null, draw(1)), logits(said, draw(1)))


@pytest.mark.parametrize(
    ("key", "value"), [("head_dim", 0), ("window", 0), ("window", -1), ("dropout", 1.0), ("dropout", -0.1)]
)
def test_a_value_without_meaning_is_refused_when_the_model_is_built(key: str, value: float) -> None:
    assert f"model.mixer.{key}={value} must be at least" in refusal(mixer=option("mixer", "mha") | {key: value})


@backends
def test_a_window_of_four_is_oneself_and_three_before(backend: str) -> None:
    seen = weights(context(plain_sequence(8)), backend, window=4)[0] > 0
    assert seen[5].nonzero().flatten().tolist() == [2, 3, 4, 5]
    assert seen[1].nonzero().flatten().tolist() == [0, 1]
    assert (weights(context(plain_sequence(8)), backend, window=1)[0] == torch.eye(8)).all()


@backends
def test_a_window_of_a_model_that_sees_both_sides_has_as_many_after(backend: str) -> None:
    seen = weights(context(plain_sequence(8), causal=False), backend, window=3)[0] > 0
    assert seen[4].nonzero().flatten().tolist() == [2, 3, 4, 5, 6]


@backends
@pytest.mark.parametrize("causal", [True, False])
def test_a_window_as_long_as_the_text_is_full_attention(causal: bool, backend: str) -> None:
    seen = context(plain_sequence(8), causal=causal)
    assert torch.equal(weights(seen, backend, window=8), weights(seen, backend))
    assert not torch.equal(weights(seen, backend, window=7), weights(seen, backend))


@backends
def test_a_window_counts_real_tokens_and_not_padding(backend: str) -> None:
    """Padding in the middle of a row takes no place in the window."""
    real = torch.tensor([[True, True, False, False, True, True]])
    seen = weights(context(Sequence.of(draw(1, 6), real)), backend, window=2)[0] > 0
    assert seen[4].nonzero().flatten().tolist() == [1, 4]


@backends
def test_new_queries_see_all_that_is_past_and_themselves(backend: str) -> None:
    """Two queries after three places: the triangle stands at the lower right corner, not at the upper left."""
    queries, keys, scheme = Sequence(torch.tensor([[3, 4]])), plain_sequence(5), part("position", "none")
    seen = weights(Context(queries, keys, True, scheme, BACKENDS[backend]), backend)[0] > 0
    assert seen.tolist() == [[True, True, True, True, False], [True] * 5]
    last = weights(Context(Sequence(torch.tensor([[4]])), keys, True, scheme, BACKENDS[backend]), backend)[0] > 0
    assert last.tolist() == [[True] * 5]


@backends
def test_the_second_of_two_tokens_sees_both_and_the_first_itself(backend: str) -> None:
    assert torch.equal(weights(context(plain_sequence(2)), backend), torch.tensor([[[1.0, 0.0], [0.5, 0.5]]]))


@backends
def test_true_is_real_and_a_row_of_padding_attends_to_nothing(backend: str) -> None:
    seen = weights(context(Sequence.of(draw(2, 3), real_of([2, 0], 3, "left")), causal=False), backend)
    assert seen[0].tolist() == [[0.0, 0.5, 0.5]] * 3
    assert seen[1].tolist() == [[0.0] * 3] * 3


@backends
def test_a_useless_padding_mask_leaves_documents_apart(backend: str) -> None:
    tokens, documents = draw(1, 12), torch.tensor([[0] * 5 + [1] * 7])
    built = model(mixer="mha")
    other = tokens.clone()
    other[:, :5] = draw(1, 5, seed=1)
    masks = [None, torch.ones(1, 12, dtype=torch.bool), real_of([10], 12, "right")]
    for real in masks:
        a, b = (call(built, x, documents=documents, padding=real, backend=backend).logits for x in (tokens, other))
        assert close(a[:, 5:10], b[:, 5:10])
        assert close(a[:, 5:10], call(built, tokens[:, 5:], backend=backend).logits[:, :5])
        assert not close(a[:, :5], b[:, :5], 1e-2)


@backends
def test_scores_are_divided_by_the_root_of_the_head_width_unless_told_not_to(backend: str) -> None:
    scaled, bare = (randomise(part("mixer", "attention", head_dim=9, scale=scale)) for scale in (True, False))
    with torch.no_grad():
        scaled.q.weight *= 3  # √9
    seen = Context(plain_sequence(6), plain_sequence(6), False, part("position", "none"), BACKENDS[backend])
    assert close(scaled(noise(1, 6, 16), seen), bare(noise(1, 6, 16), seen))


@backends
@pytest.mark.parametrize("size", [1e4, 1e8])
def test_scores_of_any_size_stay_finite(size: float, backend: str) -> None:
    real = Sequence.of(draw(2, 6), real_of([4, 0], 6, "right"))
    q, k, v = ((x * size).requires_grad_() for x in (noise(2, 2, 6, 4), noise(2, 2, 6, 4, seed=1), noise(2, 2, 6, 4)))
    mixed = BACKENDS[backend](q, k, v, context(real), Scores(1.0, 3, Dropout(0.0)))
    mixed.sum().backward()
    assert mixed.isfinite().all()
    assert all(x.grad is not None and x.grad.isfinite().all() for x in (q, k, v))


def test_a_cross_mixer_reads_all_of_the_memory_whatever_its_window() -> None:
    built = model(topology="encoder_decoder", position="rope", mixer=option("mixer", "mha") | {"window": 1})
    source, target = draw(1, 9, seed=3), draw(1, 1)
    base = logits(built, target, source=source)
    for place in range(9):
        other = source.clone()
        other[0, place] = (other[0, place] + 1) % 13
        assert not close(logits(built, target, source=other), base, 1e-5)


def test_a_mixer_that_cannot_read_a_memory_says_so_when_asked_for_its_cost() -> None:
    with pytest.raises(TypeError, match="cannot read another sequence"):
        Mixer.cross_flops(part("mixer", "attention"), 3, 4)
