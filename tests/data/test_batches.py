from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.data.corpora import Load
from zoo.data import batches, kept
from zoo.data.batch import Batch, PairBatch, TextBatch
from zoo.data.batches import Loader
from zoo.data.building.store import Split
from zoo.data.corpus import Corpus, load_corpus
from zoo.data.permutation import draw, epoch_keys, permute
from zoo.data.rows import Windows
from zoo.data.tokenizer import tokenizers
from zoo.errors import UserError
from zoo.option import Option

WHOLE = (1.0, 0.0, 0.0)
Make = Callable[..., Loader]


def counting(size: int, offsets: list[int] | None = None) -> Split:
    """A split whose token n is n."""
    marks = np.array(offsets or [0, size], dtype=np.int64)
    return Split("train", np.arange(size, dtype="<u4"), marks, size, offsets is not None, None)


def loader(split: Split, length: int = 5, overlap: int = 1, batch_size: int = 4, context: int | None = None) -> Loader:
    corpus = Corpus("text", tokenizers.build(Option("bytes")), "", {"split": []}, {split.name: split})
    return Loader(corpus, split.name, length, overlap, batch_size, context or length - overlap)


def text(batch: Batch) -> TextBatch:
    assert isinstance(batch, TextBatch)
    return batch


def first_tokens(of: Loader, indices: range, seed: int = 0) -> list[int]:
    return [row for i in indices for row in text(of.train_batch(i, seed)).tokens[:, 0].tolist()]


def scored(batches: list[TextBatch]) -> list[int]:
    """The targets of next-token prediction that are real."""
    return [
        token
        for batch in batches
        for row, real in zip(
            batch.tokens, torch.ones_like(batch.tokens) if batch.real is None else batch.real, strict=True
        )
        for token in row[1:][real[1:].bool()].tolist()
    ]


@pytest.fixture
def pairs(tmp_path: Path) -> Callable[..., Corpus]:
    def make(rows: list[tuple[str, str]], split: tuple[float, float, float] = WHOLE) -> Corpus:
        (tmp_path / "pairs.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in rows))
        keys = {"path": str(tmp_path / "pairs.tsv"), "split": split}
        return load_corpus(Option("pairs", keys), Option("bytes"), str(tmp_path / "cache"))

    return make


# --- the order of training ------------------------------------------------------------------------------------------


@given(st.integers(1, 3000), st.integers(0, 2**70), st.integers(0, 1000))
@settings(max_examples=60)
def test_the_order_of_an_epoch_is_a_permutation(size: int, seed: int, epoch: int) -> None:
    keys = epoch_keys(seed, np.full(size, epoch, dtype=np.int64))
    order = permute(np.arange(size), size, keys)
    assert sorted(order.tolist()) == list(range(size))


def test_every_place_of_a_small_permutation_is_about_equally_likely() -> None:
    size, trials = 5, 4000
    keys = epoch_keys(0, np.repeat(np.arange(trials), size))
    orders = permute(np.tile(np.arange(size), trials), size, keys).reshape(trials, size)
    for place in range(size):
        counts = np.bincount(orders[:, place], minlength=size)
        assert abs(counts / trials - 1 / size).max() < 0.03
    assert len({tuple(order) for order in orders.tolist()}) == 120


def test_drawn_numbers_fill_their_range_evenly() -> None:
    counts = np.bincount(draw(epoch_keys(0, np.arange(7000)), 7), minlength=7)
    assert len(counts) == 7
    assert abs(counts / 1000 - 1).max() < 0.12


def test_a_batch_is_a_pure_function_of_data_seed_and_step(load: Load) -> None:
    content = b"".join(b"%d," % i for i in range(2000))
    one = Loader(load(content), "train", 33, 1, 4, 32)
    straight = [text(one.train_batch(i, seed=3)).tokens for i in range(30)]
    before = torch.get_rng_state(), np.random.get_state()[1].tolist()
    other = Loader(load(content), "train", 33, 1, 4, 32)
    for i in (29, 0, 13, 13, 7):
        torch.rand(3)
        for _ in other.evaluation():
            pass
        assert torch.equal(text(other.train_batch(i, seed=3)).tokens, straight[i])
    torch.set_rng_state(before[0])
    other.train_batch(1, seed=4)
    assert torch.equal(torch.get_rng_state(), before[0])
    assert np.random.get_state()[1].tolist() == before[1]


@pytest.mark.parametrize("ahead", [1, 10, 24])
def test_how_far_the_order_is_worked_out_ahead_changes_no_batch(monkeypatch: pytest.MonkeyPatch, ahead: int) -> None:
    """Nor does asking for batches out of their order; 30 batches of 4 rows are more than an epoch of 100."""
    straight = [first_tokens(loader(counting(401)), range(i, i + 1)) for i in range(30)]
    monkeypatch.setattr(batches, "AHEAD", ahead)
    one = loader(counting(401))
    for i in (*range(30), 3, 29, 0):
        assert first_tokens(one, range(i, i + 1)) == straight[i]


def test_another_seed_is_another_order() -> None:
    one = loader(counting(401))
    assert first_tokens(one, range(25), seed=0) != first_tokens(one, range(25), seed=1)


@given(st.integers(5, 150), st.integers(1, 9), st.integers(0, 3), st.integers(0, 99))
@settings(max_examples=30)
def test_no_window_comes_twice_or_is_missing_in_an_epoch(size: int, batch_size: int, overlap: int, seed: int) -> None:
    one = loader(counting(size), length=5, overlap=overlap, batch_size=batch_size)
    rows = one.rows.training
    batches = range(-(-3 * rows // batch_size))
    seen = first_tokens(one, batches, seed)
    for epoch in range(3):
        starts = sorted(seen[epoch * rows : (epoch + 1) * rows])
        phase = starts[0]
        assert starts == [phase + i * (5 - overlap) for i in range(rows)]
        assert phase + (rows - 1) * (5 - overlap) + 5 <= size
    assert one.tokens_per_epoch == rows * (5 - overlap)
    assert one.batches_per_epoch == rows / batch_size


@pytest.mark.parametrize("stop", [0, 10, 13, 20, 29])
def test_training_that_resumes_sees_the_batches_of_the_straight_run(stop: int) -> None:
    split = counting(10 * 4 * 4 + 1)  # 10 batches of 4 rows an epoch
    straight = first_tokens(loader(split), range(30))
    assert first_tokens(loader(split), range(stop)) + first_tokens(loader(split), range(stop, 30)) == straight


def test_every_epoch_has_an_order_of_its_own_also_after_a_restart() -> None:
    split = counting(10 * 4 * 4 + 1)
    epochs = [first_tokens(loader(split), range(10 * e, 10 * e + 10)) for e in range(4)]
    assert len({tuple(epoch) for epoch in epochs}) == 4
    assert len({tuple(sorted(epoch)) for epoch in epochs}) == 1


def test_window_borders_move_between_epochs_where_tokens_are_left_over() -> None:
    one = loader(counting(4 * 10 + 1 + 3))
    phases = [min(first_tokens(loader(counting(44), batch_size=10), range(e, e + 1))) for e in range(40)]
    assert one.rows.training == 10
    assert set(phases) == {0, 1, 2, 3}


def test_micro_batches_are_the_large_batch_in_parts() -> None:
    small, large = loader(counting(401), batch_size=4), loader(counting(401), batch_size=12)
    for step in range(20):
        parts = [text(small.train_batch(step * 3 + m, seed=1)).tokens for m in range(3)]
        assert torch.equal(torch.cat(parts), text(large.train_batch(step, seed=1)).tokens)


def test_training_rows_are_whole_windows_of_int64() -> None:
    batch = text(loader(counting(401)).train_batch(0, seed=0))
    assert batch.tokens.dtype == torch.int64
    assert batch.tokens.shape == (4, 5)
    assert (batch.tokens.diff(dim=1) == 1).all()
    assert batch.real is None
    assert batch.documents is None


# --- evaluation -----------------------------------------------------------------------------------------------------


@given(st.integers(2, 200), st.integers(1, 40))
@settings(max_examples=60)
def test_evaluation_scores_every_target_exactly_once(size: int, batch_size: int) -> None:
    batches = [text(batch) for batch in loader(counting(size), batch_size=batch_size).evaluation()]
    assert scored(batches) == list(range(1, size))
    assert all(batch.tokens.shape[1] == 5 and len(batch.tokens) <= batch_size for batch in batches)


@given(st.integers(2, 200), st.integers(1, 5))
@settings(max_examples=40)
def test_evaluation_without_overlap_shows_every_token_exactly_once(size: int, batch_size: int) -> None:
    batches = [text(batch) for batch in loader(counting(size), overlap=0, batch_size=batch_size).evaluation()]
    real = [b.tokens.flatten() if b.real is None else b.tokens[b.real] for b in batches]
    assert torch.cat(real).tolist() == list(range(size))


@pytest.mark.parametrize("limit", [None, 12])
def test_evaluation_does_not_depend_on_the_batch_size(limit: int | None) -> None:
    def rows(batch_size: int) -> list[list[int]]:
        batches = loader(counting(37 * 4 + 3), batch_size=batch_size).evaluation(limit and limit // batch_size)
        return [row for batch in batches for row in text(batch).tokens.tolist()]

    assert rows(1) == rows(4) == rows(12)
    if limit is None:
        assert rows(1) == rows(37) == rows(500)


def test_a_limited_evaluation_is_spread_evenly() -> None:
    one = loader(counting(401), batch_size=5)
    starts = [start for batch in one.evaluation(batches=4) for start in text(batch).tokens[:, 0].tolist()]
    assert starts == [20 * i for i in range(20)]


def test_only_the_last_window_is_padded_and_on_the_right() -> None:
    *whole, last = [text(batch) for batch in loader(counting(44), batch_size=4).evaluation()]
    assert all(batch.real is None for batch in whole)
    assert last.real is not None
    assert last.real.tolist() == [[True] * 5, [True] * 5, [True] * 4 + [False]]
    assert last.tokens[-1].tolist() == [40, 41, 42, 43, 0]


@pytest.mark.parametrize("size", [0, 1, 2, 63, 64])
def test_a_split_shorter_than_a_window_cannot_train(size: int) -> None:
    with pytest.raises(UserError, match=rf"the train split has {size} token"):
        loader(counting(size), length=65, overlap=1).train_batch(0, seed=0)


def test_the_message_names_both_lengths_and_a_context_that_works() -> None:
    with pytest.raises(UserError, match=r"has 64 tokens, but one window of context 64 needs 65; set budget.context=63"):
        loader(counting(64), length=65, overlap=1).train_batch(0, seed=0)
    assert loader(counting(64), length=64, overlap=1).rows.training == 1


@pytest.mark.parametrize("size", [65, 66])
def test_one_token_more_than_the_context_is_exactly_one_window(size: int) -> None:
    one = loader(counting(size), length=65, overlap=1, batch_size=1)
    assert one.rows.training == 1
    assert first_tokens(one, range(3))[0] in range(size - 64)
    assert scored([text(batch) for batch in one.evaluation()]) == list(range(1, size))


@pytest.mark.parametrize("size", [2, 63, 64])
def test_a_short_split_is_evaluated_as_one_padded_window(size: int) -> None:
    batches = [text(batch) for batch in loader(counting(size), length=65, overlap=1).evaluation()]
    assert len(batches) == 1
    assert scored(batches) == list(range(1, size))


@pytest.mark.parametrize("size", [0, 1])
def test_a_split_with_nothing_to_predict_is_refused(size: int) -> None:
    with pytest.raises(UserError, match="nothing to predict"):
        loader(counting(size))


# --- documents ------------------------------------------------------------------------------------------------------


def test_each_token_knows_its_document_and_an_end_mark_belongs_to_what_it_closes(load: Load) -> None:
    corpus = load({"a": b"one", "b": b"three"}, split=WHOLE)
    batch = text(next(Loader(corpus, "train", 13, 1, 1, 12).evaluation()))
    assert batch.documents is not None
    assert batch.documents.dtype == torch.int64
    assert batch.documents.tolist() == [[0] * 4 + [1] * 6 + [1] * 3]
    assert batch.tokens[0, [3, 9]].tolist() == [corpus.tokenizer.special.end] * 2


@given(st.lists(st.integers(1, 9), min_size=2, max_size=30))
def test_document_numbers_follow_the_borders(lengths: list[int]) -> None:
    offsets = [0, *np.cumsum(lengths).tolist()]
    right = np.repeat(np.arange(len(lengths)), lengths)
    for batch in loader(counting(offsets[-1], offsets)).evaluation():
        found, real = text(batch).documents, text(batch).real
        assert found is not None
        mask = torch.ones_like(found, dtype=torch.bool) if real is None else real
        assert found[mask].tolist() == right[text(batch).tokens[mask].numpy()].tolist()


def test_documents_are_given_even_where_a_split_has_one_of_several(load: Load) -> None:
    corpus = load({"a": b"x" * 40, "b": b"y" * 5, "c": b"z" * 5})
    batch = text(next(Loader(corpus, "test", 5, 1, 1, 4).evaluation()))
    assert batch.documents is not None


@pytest.mark.parametrize("overlap", [0, 1])
def test_the_longest_row_is_the_least_context_that_takes_all_in_one_window(overlap: int) -> None:
    split = counting(64)
    for context in (5, 64, 1000):
        assert loader(split, context + overlap, overlap, context=context).rows.longest == 64 - overlap
    one, two = (loader(split, 64 - short, overlap, context=64 - overlap - short) for short in (0, 1))
    assert one.rows.evaluation == 1
    assert two.rows.evaluation == 2


def test_the_longest_pair_is_the_least_context_that_takes_all_pairs(pairs: Callable[..., Corpus]) -> None:
    corpus = pairs(ROWS)
    longest = Loader(corpus, "train", 0, 0, 4, 20).rows.longest
    assert Loader(corpus, "train", 0, 0, 4, longest).rows.evaluation == len(ROWS)
    assert Loader(corpus, "train", 0, 0, 4, longest - 1).rows.evaluation == len(ROWS) - 1


# --- pairs ----------------------------------------------------------------------------------------------------------

ROWS = [("a" * i, "b" * (i + 2)) for i in range(1, 21)]


def sides(batch: Batch) -> list[tuple[str, str]]:
    assert isinstance(batch, PairBatch)
    rows = zip(batch.source, batch.source_real, batch.target, batch.target_real, strict=True)
    return [(bytes(s[m].tolist()).decode(), bytes(t[n].tolist()).decode()) for s, m, t, n in rows]


def test_each_pair_comes_once_an_epoch_and_in_order_in_evaluation(pairs: Callable[..., Corpus]) -> None:
    one = Loader(pairs(ROWS), "train", 0, 0, 4, 100)
    for epoch in range(3):
        seen = [row for i in range(5) for row in sides(one.train_batch(5 * epoch + i, seed=0))]
        assert seen != ROWS
        assert sorted(seen) == sorted(ROWS)
    assert [row for batch in one.evaluation() for row in sides(batch)] == ROWS
    assert one.tokens_per_epoch == sum(len(a) + len(b) for a, b in ROWS)


@pytest.mark.parametrize("at_once", [8, batches.AT_ONCE])
@pytest.mark.parametrize(("positions", "limit"), [(1, None), (60, None), (60, 3), (10**6, None)])
def test_rows_of_like_length_are_scored_together(
    pairs: Callable[..., Corpus], positions: int, limit: int | None, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "AT_ONCE", at_once)
    one = Loader(pairs(ROWS[::3] + ROWS[1::3] + ROWS[2::3]), "train", 0, 0, 4, 100)
    in_order = [row for batch in one.evaluation(limit) for row in sides(batch)]
    found = list(one.scoring(positions, limit))
    assert sorted(place for places, _ in found for place in places.tolist()) == list(range(len(in_order)))
    for places, batch in found:
        rows = sides(batch)
        assert rows == [in_order[place] for place in places.tolist()]
        lengths = [len(a) + len(b) + 2 for a, b in rows]
        assert lengths == sorted(lengths)
        assert len(rows) * lengths[-1] <= positions or len(rows) == 1
    if positions == 10**6:
        assert len(found) == -(-len(in_order) // at_once)


@pytest.mark.parametrize("size", [2, 44, 45])
def test_windows_are_scored_in_order_as_many_as_fit(size: int) -> None:
    one = loader(counting(size), batch_size=1)
    found = list(one.scoring(14))
    assert scored([text(batch) for _, batch in found]) == list(range(1, size))
    assert all(len(places) == 3 for places, _ in found[:-1])


def test_pairs_that_do_not_fit_are_dropped_and_counted_and_none_is_cut(pairs: Callable[..., Corpus]) -> None:
    corpus = pairs(ROWS)
    for context in (6, 21, 22, 43, 44, 100):
        one = Loader(corpus, "train", 0, 0, 3, context)
        fit = [(a, b) for a, b in ROWS if len(a) + len(b) + 2 <= context]
        assert [row for batch in one.evaluation() for row in sides(batch)] == fit
        assert one.summary()["pairs_dropped"] == len(ROWS) - len(fit)


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=40), st.integers(2, 11))
def test_pairs_that_fit_are_found_by_number(lengths: list[tuple[int, int]], limit: int) -> None:
    offsets = np.cumsum([0, *(size for pair in lengths for size in pair)])
    sums = np.array([sum(pair) for pair in lengths])
    fit = np.flatnonzero(sums <= limit)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept, "BLOCK", 4)
        patch.setattr(kept, "AT_ONCE", 8)
        found = kept.Kept(offsets, limit)
        assert (len(found), found.dropped) == (len(fit), len(lengths) - len(fit))
        assert (found.tokens, found.shortest, found.longest) == (sums[sums <= limit].sum(), sums.min(), sums.max())
        for numbers in (np.arange(len(fit)), np.arange(len(fit))[::-3]):
            if len(numbers):
                assert found.at(numbers).tolist() == fit[numbers].tolist()


def test_pairs_are_right_padded_to_a_multiple_of_eight_within_the_context(pairs: Callable[..., Corpus]) -> None:
    corpus = pairs([*ROWS, ("a", "b" * 25)])
    for context in (12, 28, 30, 100):
        for batch in Loader(corpus, "train", 0, 0, 4, context).evaluation():
            assert isinstance(batch, PairBatch)
            for tokens, real in ((batch.source, batch.source_real), (batch.target, batch.target_real)):
                assert tokens.shape == real.shape
                assert tokens.shape[1] % 8 == 0 or tokens.shape[1] == context - 2
                assert tokens.shape[1] <= context - 2
                assert (real.int().diff(dim=1) <= 0).all()
                assert (tokens[~real] == 0).all()
                assert tokens.dtype == torch.int64


def test_a_context_that_no_pair_fits_is_refused(pairs: Callable[..., Corpus]) -> None:
    with pytest.raises(UserError, match="no pair of the train split fits a context of 5: the shortest has 4 tokens"):
        Loader(pairs(ROWS), "train", 0, 0, 4, 5)


def test_pairs_with_one_source_stand_in_one_split(pairs: Callable[..., Corpus]) -> None:
    rows = [(f"source {i % 25}", f"target {i}") for i in range(100)]
    corpus = pairs(rows, (0.6, 0.2, 0.2))
    seen = {
        name: {row[0] for batch in Loader(corpus, name, 0, 0, 8, 100).evaluation() for row in sides(batch)}
        for name in corpus.splits
    }
    assert sum(len(sources) for sources in seen.values()) == len(set().union(*seen.values())) == 25


def test_a_batch_size_below_one_is_refused() -> None:
    for size in (0, -1):
        with pytest.raises(UserError, match=f"budget.batch_size={size}"):
            loader(counting(100), batch_size=size)


def test_windows_describe_themselves() -> None:
    rows: Any = loader(counting(44)).rows
    assert isinstance(rows, Windows)
    assert loader(counting(44)).summary() == {"tokens_per_epoch": 40, "evaluation_rows": 11}
