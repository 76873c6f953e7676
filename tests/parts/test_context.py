"""Who may see whom, and which place a token has: against the definitions, pair by pair."""

from itertools import combinations_with_replacement
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from tests.helpers import (
    LENGTH,
    OPTIONS,
    Node,
    build,
    context,
    draw,
    model_node,
    option,
    plain_sequence,
    real_of,
    with_window,
)
from zoo.context import Context
from zoo.mixer.backend import BACKENDS
from zoo.position import Position, positions
from zoo.sequence import Sequence

Row = list[tuple[bool, bool, bool]]
"""Of each position: is it real, does a document begin here, is it in the prefix."""
CHUNKS = (slice(0, 7), slice(7, 11), slice(11, 12))
rows = st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=1, max_size=12)


def sequence_of(row: Row, *, documents: bool = True) -> Sequence:
    real, opens, prefix = (torch.tensor([column]) for column in zip(*row, strict=True))
    numbers = 7 - opens.long().cumsum(1) if documents else None  # any numbers will do
    return Sequence.of(torch.zeros_like(opens, dtype=torch.long), real, numbers, prefix)


def places(row: Row) -> list[int]:
    """How many real tokens of its document stand before each position; padding has the place before it, or 0."""
    found, count = [], 0
    for i, (real, opens, _) in enumerate(row):
        count = 0 if opens and i else count
        count += real
        found.append(max(count - 1, 0))
    return found


@settings(deadline=None, max_examples=50, database=None)
@given(rows)
def test_places_count_the_real_tokens_of_a_document_from_zero(row: Row) -> None:
    assert sequence_of(row).positions.tolist() == [places(row)]


@settings(deadline=None, max_examples=50, database=None)
@given(rows)
def test_places_without_documents_count_the_real_tokens_of_the_row(row: Row) -> None:
    whole = [(real, False, prefix) for real, _, prefix in row]
    assert sequence_of(row, documents=False).positions.tolist() == [places(whole)]


@settings(deadline=None, max_examples=50, database=None)
@given(rows)
def test_a_mask_of_nothing_but_real_tokens_changes_no_place(row: Row) -> None:
    real = [(True, opens, prefix) for _, opens, prefix in row]
    documents = sequence_of(real).documents
    bare = Sequence.of(torch.zeros(1, len(row), dtype=torch.long), None, documents)
    assert torch.equal(sequence_of(real).positions, bare.positions)


def visible(seen: Context, window: int | None, length: int) -> Tensor:
    found = seen.visible(window)
    return torch.ones(1, length, length, dtype=torch.bool) if found is None else found


@settings(deadline=None, max_examples=50, database=None)
@given(rows, st.booleans(), st.sampled_from([None, 1, 2, 4]))
def test_a_query_sees_exactly_what_the_definition_says(row: Row, causal: bool, window: int | None) -> None:
    sequence = sequence_of(row)
    at, number = places(row), sequence.documents[0].tolist() if sequence.documents is not None else []
    seen = visible(context(sequence, causal=causal), window, len(row))[0]
    for t in range(len(row)):
        for s, (real, _, prefix) in enumerate(row):
            near = window is None or abs(at[t] - at[s]) < window
            in_order = not causal or at[s] <= at[t] or prefix
            assert seen[t, s] == (real and near and in_order and number[t] == number[s])


def test_two_tokens_see_one_and_two() -> None:
    assert context(plain_sequence(2)).visible().tolist() == [[[True, False], [True, True]]]
    assert context(plain_sequence(2), causal=False).visible() is None


def test_a_memory_is_seen_whole_wherever_it_is_real() -> None:
    queries = Sequence.of(draw(1, 3), documents=torch.tensor([[0, 0, 1]]))
    keys = Sequence.of(draw(1, 4), torch.tensor([[False, True, True, False]]))
    scheme = context(queries).position
    cross = Context(queries, keys, False, scheme, BACKENDS["plain"], memory=torch.zeros(1, 4, 16))
    assert cross.visible(window=1).tolist() == [[[False, True, True, False]] * 3]


@pytest.mark.parametrize("window", [None, LENGTH])
def test_only_a_bare_causal_row_is_a_plain_triangle(window: int | None) -> None:
    tokens = draw(1)
    everything = torch.ones_like(tokens, dtype=torch.bool)
    assert context(Sequence.of(tokens)).only_causal(window)
    assert not context(Sequence.of(tokens)).only_causal(LENGTH - 1)
    assert not context(Sequence.of(tokens), causal=False).only_causal(window)
    for masks in ({"real": everything}, {"documents": tokens}, {"prefix": everything}):
        assert not context(Sequence.of(tokens, **masks)).only_causal(window)


def test_a_mask_is_built_once_for_all_layers() -> None:
    seen = context(plain_sequence(3))
    assert seen.visible(2) is seen.visible(2)
    assert seen.visible(2) is not seen.visible(None)


def varied(node: Node) -> Node:
    """The option with another value of a key that layers could take from each other."""
    others = {"base": 50.0, "window": 3, "n_kv_heads": 1}
    return node | {key: value for key, value in others.items() if node.get(key) is not None}


@pytest.mark.unchecked
@pytest.mark.parametrize("axis", ["mixer", "position"])
@torch.no_grad()
def test_what_layers_share_is_what_each_would_compute(axis: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of any two options, and of one with two values: at once, and in chunks that keep a state."""
    chosen = {name: with_window(name, 5) if axis == "mixer" else option(axis, name) for name in OPTIONS[axis]}
    nodes = {name: node for name, node in chosen.items() if "layers" not in node}
    alone = {name for name in nodes if axis == "position" and positions.get(name).embed is not Position.embed}
    tokens, real = draw(2, 12), real_of([12, 9], 12, "left")
    ways = (Context.once, lambda self, key, compute: compute())
    for a, b in combinations_with_replacement(sorted(nodes.keys() - alone), 2):
        pattern = {"name": "pattern", "layers": ["a", "b"], "a": nodes[a], "b": varied(nodes[b])}
        built, found = build(model_node(**{axis: pattern})), []
        for once in ways:
            monkeypatch.setattr(Context, "once", once)
            for built.attention in BACKENDS if axis == "mixer" else ["plain"]:  # masks are shared there too
                state = built.start(2, 12)
                found += [built(tokens, real).logits]
                found += [built(tokens[:, part], real[:, part], state=state).logits for part in CHUNKS]
        assert all(map(torch.equal, found, found[len(found) // 2 :])), (a, b)


@torch.no_grad()
def test_what_layers_share_is_known_by_a_name_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Torch's compiler compares keys place by place, and fails where a part is compared with a text."""
    keys: list[tuple[Any, ...]] = []
    once = Context.once

    def noted(self: Context, key: Any, compute: Any) -> Any:
        keys.append(key)
        return once(self, key, compute)

    monkeypatch.setattr(Context, "once", noted)
    for name in OPTIONS["position"]:
        built = build(model_node(position=option("position", name)))
        for built.attention in BACKENDS:
            built(draw(2, 12), real_of([12, 9], 12, "left"))
    assert all(isinstance(key[0], str) for key in keys)
    lengths = {(key[0], len(key)) for key in keys}
    assert {"visible", "factors", "turned", "columns", "alibi", "t5", "added", "blind"} == {name for name, _ in lengths}
    assert len(lengths) == 8


def test_a_memory_gets_no_position_bias() -> None:
    class Biased(Position):
        def bias(self, q: Tensor, context: Context) -> Tensor:
            return torch.ones(1, 4, 3, 3)

    scheme = Biased.__new__(Biased)
    torch.nn.Module.__init__(scheme)
    sequence, q = plain_sequence(3), torch.zeros(1, 4, 3, 4)
    assert context(sequence, position=scheme).position_bias(q) is not None
    cross = Context(sequence, sequence, False, scheme, BACKENDS["plain"], memory=torch.zeros(1, 3, 16))
    assert cross.position_bias(q) is None


def test_a_document_number_that_comes_back_is_another_document() -> None:
    """Else a token would see the later part of 'its' document, whose places start again at 0."""
    sequence = Sequence.of(draw(1, 6), documents=torch.tensor([[0, 0, 1, 1, 0, 0]]))
    visible = context(sequence).visible()
    assert visible is not None
    assert not visible.triu(1).any()
    assert visible[0, 4].tolist() == [False, False, False, False, True, False]
