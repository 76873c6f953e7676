"""States can be reordered and, where a mixer declares it, go back: what follows is as if it had come so at once."""

import pytest
import torch
from torch import Tensor

from tests.helpers import CAUSAL_TOPOLOGIES, OPTIONS, close, draw, model, real_of, with_window
from tests.laws.decay_mixer import register_decay
from zoo.ability import Ability
from zoo.errors import UserError
from zoo.model import Model
from zoo.state import ModelState

LENGTH = 13
BACK = 3
CASES = [(topology, True) for topology in CAUSAL_TOPOLOGIES] + [("decoder_only", False)]


def sources(built: Model, rows: list[int]) -> dict[str, Tensor]:
    """A source where one is read, its rows of different lengths."""
    if not built.topology.traits.reads_source:
        return {}
    return {"source": draw(3, 9, seed=5)[rows], "source_padding": real_of([9, 4, 6], 9, "right")[rows]}


def start(built: Model, tokens: Tensor, real: Tensor | None, rows: list[int], back: int = 0) -> ModelState:
    """A state that has read these rows of the batch."""
    state = built.start(len(rows), LENGTH + 24, back)
    built(tokens[rows], None if real is None else real[rows], state=state, **sources(built, rows))
    return state


@pytest.mark.parametrize(("topology", "padded"), CASES)
@pytest.mark.parametrize("mixer", OPTIONS["mixer"])
def test_reordered_rows_go_on_as_the_rows_they_were(mixer: str, topology: str, padded: bool) -> None:
    built = model(mixer=with_window(mixer, 4), topology=topology)
    tokens = draw(3, LENGTH)
    real = real_of([LENGTH, 5, 9], LENGTH, "left") if padded else None
    for rows in ([2, 0, 0], [1, 1, 2, 0, 0], [1]):
        moved, straight = start(built, tokens, real, [0, 1, 2]), start(built, tokens, real, rows)
        moved.reorder(torch.tensor(rows))
        for size in (1, 3, 1):
            text = draw(len(rows), size, seed=size)
            assert close(built(text, state=moved).logits, built(text, state=straight).logits)


@pytest.mark.parametrize("topology", CAUSAL_TOPOLOGIES)
def test_a_state_moves_nothing_of_its_caller(topology: str) -> None:
    built, rows = model(topology=topology), [0, 1, 2]
    real = real_of([LENGTH, 5, 9], LENGTH, "left")
    inputs = {"tokens": draw(3, LENGTH), "padding": real, **sources(built, rows)}
    before = {name: value.clone() for name, value in inputs.items()}
    state = built.start(3, LENGTH + 1)
    built(**inputs, state=state)
    state.reorder(torch.tensor([2, 0, 1]))
    built(draw(3, 1), state=state)
    for name, value in inputs.items():
        assert torch.equal(value, before[name]), name


@pytest.mark.parametrize(("topology", "padded"), CASES)
@pytest.mark.parametrize("mixer", OPTIONS["mixer"])
def test_a_state_that_went_back_goes_on_as_if_it_had_never_been_further(
    mixer: str, topology: str, padded: bool
) -> None:
    built = model(mixer=with_window(mixer, 4), topology=topology)
    rows, tokens = [0, 1, 2], draw(3, LENGTH)
    real = real_of([LENGTH, 2, 9], LENGTH, "left") if padded else None
    there_and_back, straight = (start(built, tokens, real, rows, back) for back in (BACK, 0))
    for back in (1, 2, 3, 3, 3):
        wrong, right = draw(3, 4, seed=back), draw(3, 2, seed=10 + back)
        built(wrong, state=there_and_back)
        there_and_back.truncate(there_and_back.history.length - back)
        built(wrong[:, : 4 - back], state=straight)
        step = built(right[:, :1], state=there_and_back).logits
        assert close(step, built(right[:, :1], state=straight).logits)


def test_a_state_goes_back_only_as_far_as_it_was_made_to() -> None:
    built = model(mixer=with_window("sliding", 4))
    state = built.start(1, 20, 2)
    built(draw(1, 9), state=state)
    for length, words in ((6, "can go back by 2 positions, not from 9 to 6"), (10, "cannot go back to 10")):
        with pytest.raises(UserError, match=words):
            state.truncate(length)
    state.truncate(7)
    with pytest.raises(UserError, match="not from 9 to 6"):
        state.truncate(6)


def test_a_mixer_that_cannot_go_back_is_refused_where_that_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    built = model(mixer=register_decay(monkeypatch, frozenset(Ability) - {Ability.ROLLBACK}))
    with pytest.raises(UserError, match="cannot go back in its state, which a state that can be rolled back needs"):
        built.start(1, 4, 1)
