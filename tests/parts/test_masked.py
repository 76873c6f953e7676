"""What masked prediction chooses, and what becomes of the chosen: about 10,000 positions with padding, end marks and
several documents."""

from math import sqrt

import pytest
import torch
from torch import Tensor

from tests.helpers import draw, real_of
from zoo.data.batch import TextBatch
from zoo.data.special import Special
from zoo.objective import Task, objectives
from zoo.traits import Traits

WORDS = 5000
"""So many that a random token is hardly ever the one it replaces."""
SPECIAL = Special.after(WORDS)
ROWS, LENGTH = 28, 400
SETTINGS = [(0.15, 0.8, 0.1), (0.4, 0.2, 0.7), (0.25, 1.0, 0.0), (0.3, 0.0, 1.0), (0.2, 0.0, 0.0), (1.0, 0.5, 0.25)]


def batch() -> TextBatch:
    """Documents of 50 tokens, each closed by an end mark; padding at the end of all rows but one. The padding is text
    to look at, so that nothing but `real` tells it."""
    tokens = draw(ROWS, LENGTH, vocabulary=WORDS)
    tokens[:, 49::50] = SPECIAL.end
    documents = (torch.arange(LENGTH) // 50).expand(ROWS, -1)
    return TextBatch(tokens, real_of([LENGTH - 3 * row for row in range(ROWS)], LENGTH, "right"), documents)


def masked(given: TextBatch, *, seed: int = 0, **values: float) -> Task:
    def draws(length: int, each: int) -> Tensor:
        return torch.rand(len(given.tokens), length, each, generator=torch.Generator().manual_seed(seed))

    return objectives.get("masked")(**values).prepare(given, SPECIAL, Traits(generates=False), draws)


def candidates(given: TextBatch) -> Tensor:
    assert given.real is not None
    return given.real & (given.tokens != SPECIAL.end)


def test_by_default_15_percent_is_chosen_and_80_percent_of_those_hidden_and_10_kept() -> None:
    given = batch()
    asked = masked(given)
    chosen, seen = asked.weights > 0, asked.inputs["tokens"]
    assert 9_500 < int(candidates(given).sum()) < 10_500
    assert 0.14 < int(chosen.sum()) / int(candidates(given).sum()) < 0.16
    of_chosen = seen[chosen]
    assert 0.77 < float((of_chosen == SPECIAL.mask).float().mean()) < 0.83
    assert 0.08 < float((of_chosen == given.tokens[chosen]).float().mean()) < 0.12


@pytest.mark.parametrize(("rate", "mask", "random"), SETTINGS)
def test_every_share_is_the_one_that_is_set(rate: float, mask: float, random: float) -> None:
    given = batch()
    asked = masked(given, rate=rate, mask=mask, random=random)
    chosen, seen = asked.weights > 0, asked.inputs["tokens"]
    hidden, kept = seen == SPECIAL.mask, seen == given.tokens
    strange = ~hidden & ~kept
    total, count = int(candidates(given).sum()), int(chosen.sum())
    among = [(count, total, rate), (int((chosen & hidden).sum()), count, mask)]
    among += [(int((chosen & strange).sum()), count, random), (int((chosen & kept).sum()), count, 1 - mask - random)]
    for found, of, share in among:
        coincidences = of / 1000  # a random token may be the one that it replaces
        assert abs(found - share * of) <= 4 * sqrt(abs(share * (1 - share)) * of) + coincidences, (found, of, share)


@pytest.mark.parametrize(("rate", "mask", "random"), SETTINGS)
def test_no_padding_and_no_mark_is_chosen_and_what_is_not_chosen_stays(rate: float, mask: float, random: float) -> None:
    given = batch()
    asked = masked(given, rate=rate, mask=mask, random=random)
    chosen = asked.weights > 0
    assert set(asked.weights.unique().tolist()) <= {0.0, 1.0}
    assert not (chosen & ~candidates(given)).any()
    assert torch.equal(asked.inputs["tokens"][~chosen], given.tokens[~chosen])
    assert torch.equal(asked.targets[chosen], given.tokens[chosen])
    assert asked.inputs["padding"] is given.real
    assert asked.inputs["documents"] is given.documents


def test_a_rate_of_one_chooses_every_candidate() -> None:
    given = batch()
    assert torch.equal(masked(given, rate=1.0).weights > 0, candidates(given))


def test_without_padding_and_documents_marks_alone_are_spared() -> None:
    tokens = batch().tokens
    asked = masked(TextBatch(tokens), rate=1.0)
    assert torch.equal(asked.weights > 0, tokens != SPECIAL.end)
    assert asked.inputs.keys() == {"tokens"}


def test_random_tokens_are_text_from_the_whole_vocabulary() -> None:
    given = batch()
    asked = masked(given, rate=1.0, mask=0.0, random=1.0)
    strangers = asked.inputs["tokens"][asked.weights > 0]
    assert 0 <= int(strangers.min()) < WORDS / 100
    assert WORDS * 0.99 < int(strangers.max()) < WORDS
    tenths = torch.bincount(strangers * 10 // WORDS, minlength=10) / len(strangers)
    assert tenths.tolist() == pytest.approx([0.1] * 10, abs=0.015)


def test_places_fates_and_strangers_are_drawn_apart() -> None:
    """What is chosen does not depend on the shares."""
    given = batch()
    usual, other = masked(given), masked(given, mask=0.1, random=0.9)
    assert torch.equal(usual.weights, other.weights)
    assert not torch.equal(usual.inputs["tokens"], other.inputs["tokens"])
    again, another = masked(given), masked(given, seed=1)
    assert torch.equal(usual.inputs["tokens"], again.inputs["tokens"])
    assert not torch.equal(usual.weights, another.weights)
