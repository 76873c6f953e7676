"""A draft changes how fast a text comes, and nothing about it."""

from itertools import product

import pytest
import torch
from scipy.stats import chisquare
from torch import Tensor

from tests.helpers import CAUSAL_TOPOLOGIES, OPTIONS, build, draw, learned, model, model_node, real_of, with_window
from tests.inference.runs import Rigged
from tests.laws.decay_mixer import register_decay
from zoo.ability import Ability
from zoo.errors import UserError
from zoo.ffn import Auxiliary
from zoo.inference.generate import generate
from zoo.inference.prompt import Prompt
from zoo.inference.sampling import Sampling
from zoo.inference.speculative import Guesses, speculate
from zoo.luck import generator_for

N = 12


def sources(reads: bool, rows: int) -> dict[str, Tensor]:
    return {"source": draw(rows, 6, seed=4), "source_padding": real_of([6, 2, 4][:rows], 6, "right")} if reads else {}


@pytest.mark.parametrize("topology", CAUSAL_TOPOLOGIES)
@pytest.mark.parametrize("mixer", OPTIONS["mixer"])
@torch.no_grad()
def test_greedy_texts_with_a_draft_are_those_without(mixer: str, topology: str) -> None:
    """Of a draft whose guesses are right now and then; windows shorter than the prompt."""
    target = model(mixer=with_window(mixer, 4), topology=topology)
    draft = model(mixer=with_window(mixer, 4), topology=topology)
    draft.head.out.weight.add_(0.2 * torch.randn(draft.head.out.weight.shape, generator=generator_for("test")))
    inputs = {"padding": real_of([9, 3], 9, "left"), **sources(target.topology.traits.reads_source, 2)}
    settings = {"max_new_tokens": 9, "temperature": 0, "stop": [3], **inputs}
    plain = generate(target, draw(2, 9), **settings)
    assert torch.equal(generate(target, draw(2, 9), draft=draft, drafted=3, **settings), plain)


def test_a_perfect_draft_is_never_contradicted_and_a_poor_one_often() -> None:
    target, poor = model(mixer="mha"), build(model_node(mixer="mha"), seed=1)
    shares = {}
    for name, draft in (("perfect", target), ("poor", poor)):
        guesses = Guesses()
        list(
            speculate(
                target,
                draft,
                Prompt(draw(1, 5)),
                max_new_tokens=30,
                drafted=4,
                sampling=Sampling(temperature=0.8),
                luck=generator_for("test"),
                guesses=guesses,
            )
        )
        shares[name] = guesses.kept / guesses.proposed
    assert shares["perfect"] == 1.0
    assert shares["poor"] < 0.8


class Bigram(Rigged):
    """p(next | last token) = softmax of a row of a table; its state has nothing but a length."""

    def __init__(self, seed: int, vocabulary: int = 4):
        super().__init__([[0]], vocabulary)
        self.table = 1.5 * torch.randn(vocabulary, vocabulary, generator=torch.Generator().manual_seed(seed))

    def read(self, tokens: Tensor, *masks: object, state: object = None, **others: object) -> tuple[Tensor, Auxiliary]:
        state.history.length += tokens.shape[1]
        state.history.reached = max(state.history.reached, state.history.length)
        return self.table[tokens], {}

    def start(self, rows: int, capacity: int, back: int = 0) -> object:
        state = super().start(rows, capacity, back)
        state.back = back
        return state


@pytest.mark.unchecked
@pytest.mark.parametrize("settings", [{}, {"temperature": 0.7, "top_k": 3, "repetition_penalty": 1.5}])
def test_texts_with_a_draft_are_distributed_as_the_models_own(settings: dict) -> None:
    """All texts of 3 tokens, counted, against their exact probabilities (chi-square)."""
    target, draft, rule = Bigram(0), Bigram(1), Sampling(**settings)
    texts, exact = list(product(range(4), repeat=3)), []
    for text in texts:
        seen, share = [2], 1.0
        for token in text:
            share *= rule.distribution(target.table[seen[-1]][None], torch.tensor([seen]))[0, token].item()
            seen.append(token)
        exact.append(share)
    assert abs(sum(exact) - 1) < 1e-9
    rows = 600
    found = generate(target, torch.full((rows, 1), 2), max_new_tokens=3, draft=draft, drafted=2, seed=11, **settings)
    codes = (found * torch.tensor([16, 4, 1])).sum(1)
    counts, wanted = torch.bincount(codes, minlength=64).double(), rows * torch.tensor(exact, dtype=torch.float64)
    assert (counts[wanted == 0] == 0).all()
    often = wanted >= 5
    observed = torch.cat([counts[often], counts[~often].sum()[None]])
    expected = torch.cat([wanted[often], wanted[~often].sum()[None]])
    kept = expected > 0
    assert kept.sum() > 8
    assert chisquare(observed[kept].numpy(), expected[kept].numpy()).pvalue > 0.001


def test_a_row_with_a_draft_depends_on_its_own_seed_only() -> None:
    target, draft = model(mixer="sliding"), build(model_node(mixer="sliding"), seed=1)
    prompt, real = draw(2, 6), real_of([6, 2], 6, "left")
    both = generate(target, prompt, padding=real, draft=draft, seeds=[4, 5], max_new_tokens=N)
    alone = generate(target, prompt[1:, 4:], draft=draft, seeds=[5], max_new_tokens=N)
    assert torch.equal(both[1:], alone)


def test_a_draft_that_cannot_guess_for_the_model_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    target, prompt = model(), draw(1, 4)
    stiff = model(mixer=register_decay(monkeypatch, frozenset(Ability) - {Ability.ROLLBACK}))
    cases = [
        ({"draft": build(model_node(), vocabulary=14)}, "the draft has a vocabulary of 14, the model one of 13"),
        ({"draft": model(topology="encoder_decoder")}, "one reads a source and one does not"),
        ({"draft": model(position=learned(8))}, "need more positions than the 8"),
        ({"draft": stiff}, "cannot go back in its state, which a state that can be rolled back needs"),
        ({"draft": target, "drafted": 0}, "drafted=0 must be a whole number, at least 1"),
        ({"draft": target, "beams": 2}, "a beam search has no use for a draft"),
    ]
    for settings, words in cases:
        with pytest.raises(UserError, match=words):
            generate(target, prompt, max_new_tokens=N, **settings)
