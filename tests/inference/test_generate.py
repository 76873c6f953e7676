"""Generation: tokens of a row depend on that row alone, and are drawn from what the model says."""

import itertools
from collections.abc import Callable
from types import SimpleNamespace

import pytest
import torch
from scipy.stats import chisquare
from torch import Tensor, nn

from tests.helpers import (
    CAUSAL_TOPOLOGIES,
    OPTIONS,
    both_sides,
    build,
    close,
    draw,
    learned,
    model,
    model_node,
    real_of,
    shared,
    spread,
    with_window,
)
from tests.inference.runs import Rigged, run_of
from zoo.errors import UserError
from zoo.inference.forecast import Forecast
from zoo.inference.generate import generate, refuse_wrong_beams
from zoo.inference.prompt import Prompt, bare_model, row_keys
from zoo.inference.sampling import Sampling
from zoo.inference.speculative import refuse_wrong_draft
from zoo.inference.stream import NONE
from zoo.inputs import check_inputs
from zoo.model import Model

PROMPTS = [3, 9, 17]


def sources(built: Model, rows: int) -> dict[str, Tensor]:
    return {"source": draw(1, 6, seed=4).expand(rows, -1)} if built.topology.traits.reads_source else {}


@torch.no_grad()
def greedily(built: Model, prompt: Tensor, steps: int) -> Tensor:
    """The same without a state: the whole text is read anew for each token."""
    text = prompt
    for _ in range(steps):
        masks = (
            {"prefix": torch.arange(text.shape[1])[None] < prompt.shape[1]}
            if built.topology.traits.takes_prefix
            else {}
        )
        best = built(text, **masks, **sources(built, len(text))).logits[:, -1].argmax(-1, keepdim=True)
        text = torch.cat([text, best], 1)
    return text[:, prompt.shape[1] :]


@pytest.mark.parametrize("topology", CAUSAL_TOPOLOGIES)
@pytest.mark.parametrize("position", OPTIONS["position"])
@pytest.mark.parametrize("mixer", OPTIONS["mixer"])
def test_a_padded_batch_says_what_each_row_says_alone_without_a_state(mixer: str, position: str, topology: str) -> None:
    """Padded on the left and on the right in one batch."""
    built = shared(mixer=with_window(mixer, 4), position=position, topology=topology)
    texts, real = [draw(1, length, seed=length)[0] for length in PROMPTS], both_sides(PROMPTS, max(PROMPTS))
    prompt = spread([*texts, *texts], real)
    batch = generate(built, prompt, padding=real, max_new_tokens=6, temperature=0, **sources(built, len(real)))
    alone = [greedily(built, text[None], 6) for text in texts]
    assert torch.equal(batch, torch.cat([*alone, *alone]))


@torch.no_grad()
@pytest.mark.parametrize("topology", CAUSAL_TOPOLOGIES)
def test_a_prompt_gets_the_logits_after_it_and_no_others(topology: str) -> None:
    """Equal to those of a pass that makes all of them, up to rounding, whatever the padding."""
    built = shared(topology=topology)
    real = both_sides(PROMPTS, max(PROMPTS))
    prompt = draw(*real.shape)
    masks = {"prefix": torch.ones_like(real)} if built.topology.traits.takes_prefix else {}
    read = sources(built, len(real))
    given = []
    with built.head.register_forward_pre_hook(lambda _, x: given.append(tuple(x[0].shape[:2]))):
        state = built.start(len(real), prompt.shape[1])
        found = Prompt(prompt, real, **read).read(built, state)
        assert given == [(len(real), 1)]
    last = torch.where(real, torch.arange(real.shape[1]), -1).amax(1)
    wanted = built(prompt, real, **masks, **read).logits[torch.arange(len(real)), last]
    assert close(found, wanted)


def test_nothing_comes_after_a_stop_and_rows_end_by_themselves() -> None:
    rigged = Rigged([[1, 4, 1, 1, 1, 1], [1, 1, 1, 1, 4, 2], [2, 2, 2, 2, 2, 2]])
    found = generate(rigged, torch.zeros(3, 2, dtype=torch.long), max_new_tokens=6, stop=[4])
    assert found.tolist() == [[1, 4, NONE, NONE, NONE, NONE], [1, 1, 1, 1, 4, NONE], [2] * 6]
    assert (found >= 0).sum(1).tolist() == [2, 5, 6]


def test_generation_ends_when_all_rows_have() -> None:
    rigged = Rigged([[4], [1, 4]])
    assert generate(rigged, torch.zeros(2, 1, dtype=torch.long), max_new_tokens=50, stop=[4]).shape == (2, 2)


def test_a_row_draws_the_same_whatever_else_is_in_the_batch() -> None:
    built = model()
    prompt = draw(4, 5)
    batch = generate(built, prompt, max_new_tokens=8, seeds=[7, 8, 9, 10])
    for row in range(4):
        assert torch.equal(
            generate(built, prompt[row : row + 1], max_new_tokens=8, seeds=[7 + row]), batch[row : row + 1]
        )
    assert not torch.equal(generate(built, prompt, max_new_tokens=8, seeds=[1, 2, 3, 4]), batch)


SETTINGS = [
    {},
    {"temperature": 0.5},
    {"top_k": 3},
    {"top_p": 0.7},
    {"min_p": 0.2},
    {"top_k": 5, "top_p": 0.9, "temperature": 2.0},
]


def expected(
    logits: Tensor, temperature: float = 1.0, top_k: int = 8, top_p: float = 1.0, min_p: float = 0.0
) -> Tensor:
    """The distribution by a plain loop."""
    p = (logits.double() / temperature).softmax(-1).tolist()
    kept, mass = [], 0.0
    order = sorted(range(len(p)), key=lambda i: -p[i])[:top_k]
    whole = sum(p[i] for i in order)
    for i in order:
        if mass < top_p:
            kept.append(i)
        mass += p[i] / whole
    kept = [i for i in kept if p[i] >= min_p * max(p)]
    shares = [p[i] / sum(p[j] for j in kept) if i in kept else 0.0 for i in range(len(p))]
    return torch.tensor(shares, dtype=torch.float64)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_tokens_are_drawn_from_the_filtered_softmax(settings: dict) -> None:
    logits = torch.tensor([[2.0, 1.0, 0.0, -1.0, 0.5, 1.5, -2.0, 0.2]])
    wanted, rule = expected(logits[0], **settings), Sampling(**settings)
    assert torch.allclose(rule.probabilities(logits)[0].double(), wanted.double(), atol=1e-6)
    luck = torch.rand(20000, generator=torch.Generator().manual_seed(0))
    drawn = rule.choose(Forecast.of(logits.expand(20000, -1)), torch.full((20000, 1), NONE), luck)
    counts = torch.bincount(drawn, minlength=8)
    assert (counts[wanted == 0] == 0).all()
    assert (
        chisquare(counts[wanted > 0].numpy(), 20000 * wanted[wanted > 0].numpy() / wanted.sum().item()).pvalue > 0.001
    )


@pytest.mark.parametrize("mixer", OPTIONS["mixer"])
@torch.no_grad()
def test_sampled_texts_are_distributed_as_whole_passes_say(mixer: str) -> None:
    """Pairs of tokens after a prompt longer than the window, counted, against the product of softmaxes."""
    built = build(model_node(mixer=with_window(mixer, 3)), vocabulary=5)
    prompt, rows = draw(1, 7, vocabulary=5), 2000
    pairs = torch.cartesian_prod(torch.arange(5), torch.arange(5))
    logp = built(torch.cat([prompt.expand(25, -1), pairs], 1)).logits.double().log_softmax(-1)
    exact = (logp[:, 6].gather(1, pairs[:, :1]) + logp[:, 7].gather(1, pairs[:, 1:])).exp().flatten()
    found = generate(built, prompt.expand(rows, -1), max_new_tokens=2, seed=3)
    counts = torch.bincount(found[:, 0] * 5 + found[:, 1], minlength=25).double()
    often = exact * rows >= 5
    observed = torch.cat([counts[often], counts[~often].sum()[None]])
    expected = torch.cat([exact[often], exact[~often].sum()[None]]) * rows
    assert chisquare(observed[expected > 0].numpy(), expected[expected > 0].numpy()).pvalue > 0.001


def test_a_repetition_penalty_acts_on_what_the_row_has_already() -> None:
    logits = torch.tensor([[2.0, -1.0, 1.5, 0.0]])
    rule = Sampling(temperature=0, repetition_penalty=2.0)
    assert rule.choose(Forecast.of(logits), torch.tensor([[0, 1, NONE]]), torch.zeros(1)).tolist() == [2]
    assert rule._penalised(logits, torch.tensor([[0, 1, NONE]])).tolist() == [[1.0, -2.0, 1.5, 0.0]]


def empty_source(source: Tensor, real: Tensor | None) -> Tensor:
    return generate(model(topology="encoder_decoder"), draw(2, 1), source=source, source_padding=real)


def test_bad_input_is_told_in_a_sentence() -> None:
    built = model(position=learned(8))
    cases = [
        (lambda: generate(built, draw(1, 0)), "the prompt is empty"),
        (lambda: generate(built, torch.tensor([[built.vocabulary]])), "vocabulary is 0 to"),
        (lambda: generate(built, draw(1, 5), max_new_tokens=5), "position scheme can address"),
        (lambda: generate(built, draw(2, 2), padding=real_of([2, 0], 2, "left")), "no real token"),
        (lambda: generate(model("bert"), draw(1, 2)), "cannot go on token by token"),
        (lambda: generate(built, draw(1, 2), max_new_tokens=2, seeds=[1, 2]), "2 seeds for 1 rows"),
        (lambda: generate(built, draw(1, 2), max_new_tokens=2, stop=[1, 13]), "stop has 13, .* vocabulary is 0 to 12"),
        (lambda: generate(model(), draw(1, 2), max_new_tokens=10**14), "new tokens need at least"),
        (lambda: generate(model(), draw(1, 2), topk=3), r"has no 'topk' \(did you mean top_k\?\)"),
        (lambda: generate(model(), draw(1, 2), banned=3), "has no 'banned'"),
        (lambda: generate(model(), draw(1, 2), temperature=0, top_p=0.5), "top_p=0.5 does nothing at temperature=0"),
        (lambda: generate(model(), draw(1, 2), drafted=7), "drafted=7 does nothing without a draft"),
        (lambda: generate(model(), draw(1, 2), length_penalty=2.0), "length_penalty=2.0 does nothing without beams"),
        (lambda: generate(model(), draw(1, 2), beams=2, length_penalty=1e3), "at least 0 and at most 10"),
        (lambda: empty_source(draw(2, 4), real_of([4, 0], 4, "left")), "a row of the source has no real token"),
        (lambda: empty_source(draw(2, 0), None), "a row of the source has no real token"),
        (lambda: Sampling(top_p=0.0), "top_p=0.0"),
    ]
    for call, words in cases:
        with pytest.raises(UserError, match=words):
            call()


def test_a_model_is_left_in_the_mode_it_was_in() -> None:
    built = model(dropout=0.5).train()
    first, again = (generate(built, draw(1, 3), max_new_tokens=5, temperature=0) for _ in range(2))
    assert torch.equal(first, again)
    assert built.training


def test_a_memorised_text_comes_back() -> None:
    """Overfit one sentence, then say it from its first token."""
    torch.manual_seed(0)
    built, text = model(d_model=32).train(), draw(1, 20, seed=3)
    optimizer = torch.optim.Adam(built.parameters(), lr=3e-3)
    for _ in itertools.repeat(None, 300):
        loss = nn.functional.cross_entropy(built(text[:, :-1]).logits.flatten(0, 1), text[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if loss < 0.02:
            break
    assert torch.equal(generate(built, text[:, :1], max_new_tokens=19, temperature=0), text[:, 1:])


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({"tokens": torch.zeros(2, 3)}, "whole numbers"),
        ({"tokens": torch.zeros(3, dtype=torch.long)}, r"shape \(B, T\)"),
        ({"tokens": torch.full((2, 3), 1000)}, "has 1000, but the model's vocabulary"),
        ({"tokens": draw(2, 3), "padding": torch.ones(2, 3)}, "padding must be a bool tensor"),
        ({"tokens": draw(2, 3), "documents": torch.zeros(2, 3)}, "documents must be whole numbers"),
        ({"tokens": draw(2, 3), "source": draw(2, 3)}, "has no encoder"),
    ],
)
def test_a_model_refuses_what_it_cannot_read(inputs: dict, words: str) -> None:
    nothing = dict.fromkeys(("padding", "source", "source_padding", "prefix", "documents", "source_documents"))
    built = model()
    with pytest.raises(UserError, match=words):
        check_inputs(built.topology, built.vocabulary, **(nothing | inputs))


def test_a_refused_call_leaves_the_state_whole() -> None:
    built = model()
    state = built.start(2, 8)
    built(draw(2, 2), state=state)
    with pytest.raises(UserError, match="has 1000"):
        built(torch.full((2, 3), 1000), state=state)
    assert state.history.length == 2


def test_a_source_is_read_once() -> None:
    built = model(topology="encoder_decoder")
    state = built.start(2, 8)
    built(draw(2, 2), source=draw(2, 4), state=state)
    with pytest.raises(UserError, match="has read its source already"):
        built(draw(2, 2), source=draw(2, 4), state=state)


@pytest.mark.parametrize(
    ("refuse", "words"),
    [
        (lambda: row_keys(2, 0, 5), "seeds=5: a seed must be a whole number"),
        (lambda: row_keys(2, 0, [1.5, 2]), r"seeds=\[1.5, 2\]: a seed must be"),
        (lambda: row_keys(2, "a", None), "seed='a': a seed must be"),
        (lambda: refuse_wrong_beams(2, "1", Sampling()), "length_penalty='1' must be at least 0 and at most 10"),
        (lambda: refuse_wrong_draft(model(), model(), "2"), "drafted='2' must be a whole number"),
        (lambda: refuse_wrong_draft(model(), "runs/small", 4), "the draft must be a model, .* got str"),
        (lambda: bare_model("model", run_of()), "model must be a model, .* got Run"),
    ],
)
def test_what_is_of_another_kind_is_refused_by_the_check_itself(refuse: Callable[[], None], words: str) -> None:
    with pytest.raises(UserError, match=words):
        refuse()


def test_the_seed_of_a_row_is_its_value_whatever_kind_of_whole_number_it_is() -> None:
    assert row_keys(2, 0, torch.tensor([4, 5])) == row_keys(2, 0, [4, 5])


ABSURD = [{"temperature": 1e-40}, {"repetition_penalty": 1e-45}, {"temperature": "1"}, {"top_k": 1.5}]


@pytest.mark.parametrize("settings", ABSURD)
def test_absurd_settings_are_refused(settings: dict) -> None:
    """By the check itself: with shapes and types checked in tests, some would not reach it."""
    with pytest.raises(UserError, match=next(iter(settings))):
        Sampling.__post_init__(SimpleNamespace(**(vars(Sampling()) | settings)))


def test_the_seed_of_a_build_may_be_an_override() -> None:
    import zoo

    sizes = ("model/size=tiny", "model.d_model=16")
    weights = [
        next(zoo.build("modern", *sizes, *more, **keys).parameters())
        for more, keys in ((("seed=3",), {}), ((), {"seed": 3}), ((), {}))
    ]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])
