"""A whole pass = the same tokens in chunks with a state, for every legal pair of mixer and position."""

import pytest
import torch
from torch import Tensor

from tests.helpers import (
    CAUSAL_TOPOLOGIES,
    OPTIONS,
    both_sides,
    close,
    draw,
    learned,
    model,
    real_of,
    shared,
    spread,
    with_window,
)
from zoo.errors import UserError
from zoo.mixer.backend import BACKENDS
from zoo.model import Model

LENGTH = 21
CHUNKS = [[1] * LENGTH, [3, 3, 3, 7, 5], [LENGTH], [5, 1, 9, 1, 1, 4], [20, 1]]
"""Single tokens, and chunks shorter and longer than the window, after each other and after single tokens."""


def in_chunks(built: Model, tokens: Tensor, sizes: list[int], **inputs: Tensor | None) -> Tensor:
    """The logits of all positions, chunk by chunk; masks are cut like the tokens, a source is read once."""
    state = built.start(len(tokens), LENGTH)
    found, first = [], 0
    for size in sizes:
        part = slice(first, first + size)
        masks = {key: inputs[key][:, part] for key in ("padding", "prefix") if inputs.get(key) is not None}
        source = {key: inputs[key] for key in ("source", "source_padding") if not first and inputs.get(key) is not None}
        found.append(built(tokens[:, part], state=state, **masks, **source).logits)
        first += size
    return torch.cat(found, 1)


def sources(built: Model, rows: int) -> dict[str, Tensor]:
    """A source where one is read, its rows of different lengths."""
    if not built.topology.traits.reads_source:
        return {}
    return {"source": draw(rows, 9, seed=5), "source_padding": real_of([9, 4, 6][:rows], 9, "right")}


OTHER_BACKENDS = [(position, backend) for position in ("rope", "t5") for backend in BACKENDS if backend != "plain"]
"""With one scheme that turns and one that adds: that backends agree is a law of its own."""


@pytest.mark.parametrize("topology", CAUSAL_TOPOLOGIES)
@pytest.mark.parametrize(
    ("position", "backend"), [*((position, "plain") for position in OPTIONS["position"]), *OTHER_BACKENDS]
)
@pytest.mark.parametrize("mixer", OPTIONS["mixer"])
@torch.no_grad()
def test_a_whole_pass_is_its_chunks(mixer: str, position: str, topology: str, backend: str) -> None:
    built = shared(mixer=with_window(mixer, 4), position=position, topology=topology)
    built.attention = backend
    tokens, inputs = draw(3, LENGTH), sources(built, 3)
    whole = built(tokens, **inputs).logits
    for sizes in CHUNKS:
        assert close(in_chunks(built, tokens, sizes, **inputs), whole), sizes


@pytest.mark.parametrize("topology", CAUSAL_TOPOLOGIES)
@pytest.mark.parametrize("position", OPTIONS["position"])
@pytest.mark.parametrize("mixer", OPTIONS["mixer"])
@torch.no_grad()
def test_padded_rows_go_on_in_chunks_as_they_would_alone(mixer: str, position: str, topology: str) -> None:
    """Three texts in one batch, each of them padded on the left and on the right."""
    built = shared(mixer=with_window(mixer, 4), position=position, topology=topology)
    lengths, inputs = [LENGTH, 9, 14], sources(built, 3)
    texts, real = [draw(1, length, seed=length)[0] for length in lengths], both_sides(lengths, LENGTH)
    alone = []
    for i, text in enumerate(texts):
        own = {key: value[i : i + 1] for key, value in inputs.items()}
        alone.append(built(text[None], **own).logits[0])
    tokens, twice = spread([*texts, *texts], real), {key: torch.cat([one, one]) for key, one in inputs.items()}
    for sizes in CHUNKS:
        assert close(in_chunks(built, tokens, sizes, padding=real, **twice)[real], torch.cat([*alone, *alone])), sizes


@pytest.mark.parametrize("mixer", OPTIONS["mixer"])
def test_a_prefix_read_in_one_chunk_stays_seen_by_all(mixer: str) -> None:
    built = model(mixer=with_window(mixer, 4), topology="prefix_lm")
    tokens = draw(2, LENGTH)
    prefix = torch.arange(LENGTH).expand(2, -1) < 6
    whole = built(tokens, prefix=prefix).logits
    assert close(in_chunks(built, tokens, [6, 1, 5, 9], prefix=prefix), whole)


@pytest.mark.parametrize("topology", CAUSAL_TOPOLOGIES)
@pytest.mark.parametrize("mixer", OPTIONS["mixer"])
def test_the_counted_state_is_the_state_that_is_kept(mixer: str, topology: str) -> None:
    built = model(mixer=with_window(mixer, 4), topology=topology)
    state = built.start(2, LENGTH)
    built(draw(2, LENGTH), state=state, **({"source": draw(2, 9)} if built.topology.traits.reads_source else {}))
    assert state.bytes() == 4 * 2 * built.state_elements(LENGTH, 9)


def test_a_state_is_refused_where_it_does_not_belong() -> None:
    built, other = model(), model(mixer="gqa")
    state = built.start(2, 4)
    with pytest.raises(UserError, match="belongs to another model"):
        other(draw(2, 2), state=state)
    with pytest.raises(UserError, match="for 2 rows, the tokens have 3"):
        built(draw(3, 2), state=state)
    built(draw(2, 3), state=state)
    with pytest.raises(UserError, match="3 positions are kept and 2 more do not fit into a state made for 4"):
        built(draw(2, 2), state=state)
    with pytest.raises(UserError, match="cannot go on token by token"):
        model("bert").start(1, 4)


def test_a_state_knows_its_model_not_the_place_in_memory_that_another_may_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zoo.model.id", lambda of: 1, raising=False)
    gone, other = model(), model()
    state = gone.start(1, 4)
    del gone
    with pytest.raises(UserError, match="belongs to another model"):
        other(draw(1, 2), state=state)


def test_places_go_on_past_the_table_of_learned_positions_are_refused() -> None:
    built = model(position=learned(8))
    state = built.start(1, 20)
    built(draw(1, 6), state=state)
    with pytest.raises(UserError, match="9 positions, but the position scheme can address 8"):
        built(draw(1, 3), state=state)
