"""Beam search finds what a search of the whole tree finds, when nothing is dropped."""

from itertools import product

import pytest
import torch
from torch import Tensor

from tests.helpers import CAUSAL_TOPOLOGIES, OPTIONS, build, draw, model_node, real_of, with_window
from zoo.errors import UserError
from zoo.inference.beam import Beams, beam_search
from zoo.inference.generate import generate
from zoo.inference.prompt import Prompt
from zoo.inference.stream import NONE
from zoo.model import Model

V, N, STOP = 4, 3, 2


def small(mixer: str = "mha", topology: str = "decoder_only") -> Model:
    return build(model_node(mixer=with_window(mixer, 2), topology=topology), vocabulary=V)


def search(built: Model, prompt: Prompt, beams: int, penalty: float = 1.0) -> Beams:
    return beam_search(
        built,
        prompt,
        max_new_tokens=N,
        beams=beams,
        length_penalty=penalty,
        ends=lambda texts: texts[..., -1] == STOP,
    )


def tree(built: Model, prompt: Tensor, source: Tensor | None, penalty: float) -> list[tuple[float, list[int]]]:
    """Every text and its score, the best first: those that end with STOP, and those of N tokens without it."""
    texts = [text for n in range(1, N + 1) for text in product(range(V), repeat=n)]
    texts = [text for text in texts if STOP not in text[:-1] and (len(text) == N or text[-1] == STOP)]
    inputs = {} if source is None else {"source": source}
    if built.topology.traits.takes_prefix:
        inputs["prefix"] = torch.arange(prompt.shape[1] + N)[None] < prompt.shape[1]
    scored = []
    for text in texts:
        whole = torch.cat([prompt, torch.tensor([text + (0,) * (N - len(text))])], 1)
        logp = built(whole, **inputs).logits[0].double().log_softmax(-1)
        first = prompt.shape[1] - 1
        total = sum(logp[first + i, token].item() for i, token in enumerate(text))
        scored.append((total / len(text) ** penalty, list(text)))
    return sorted(scored, reverse=True)


@pytest.mark.parametrize("topology", CAUSAL_TOPOLOGIES)
@pytest.mark.parametrize(("mixer", "penalty"), [("mha", 1.0), ("sliding", 0.0), ("local_global", 0.6)])
@torch.no_grad()
def test_a_beam_as_wide_as_the_tree_finds_the_best_texts_in_their_order(
    mixer: str, penalty: float, topology: str
) -> None:
    built = small(mixer, topology)
    tokens, real = draw(2, 4, vocabulary=V), real_of([4, 2], 4, "left")
    source = draw(2, 3, vocabulary=V, seed=3) if built.topology.traits.reads_source else None
    found = search(built, Prompt(tokens, real, source), V**N, penalty)
    for row in range(2):
        wanted = tree(built, tokens[row][real[row]][None], None if source is None else source[row : row + 1], penalty)
        said = [[token for token in text if token != NONE] for text in found.tokens[row].tolist()]
        assert said[: len(wanted)] == [text for _, text in wanted]
        scores = torch.tensor([score for score, _ in wanted], dtype=torch.float64)
        assert torch.allclose(found.scores[row, : len(wanted)], scores, atol=1e-5)
        assert (found.scores[row, len(wanted) :] == -torch.inf).all()


@pytest.mark.parametrize("mixer", OPTIONS["mixer"])
def test_one_beam_by_sums_is_greedy_and_rows_do_not_depend_on_each_other(mixer: str) -> None:
    built = small(mixer)
    tokens, real = draw(3, 5, vocabulary=V), real_of([5, 1, 3], 5, "left")
    greedy = generate(built, tokens, padding=real, max_new_tokens=N, temperature=0, stop=[STOP])
    one = search(built, Prompt(tokens, real), 1, penalty=0.0).tokens[:, 0]
    assert torch.equal(one[:, : greedy.shape[1]], greedy)
    together = search(built, Prompt(tokens, real), 3)
    for row in range(3):
        alone = search(built, Prompt(tokens[row][real[row]][None]), 3)
        assert torch.equal(alone.tokens[0], together.tokens[row])


@torch.no_grad()
def test_a_search_stays_as_wide_as_it_is_however_many_tokens_end_a_text() -> None:
    """Beside a search by hand that sorts every continuation."""
    built, width, stops = build(model_node(), vocabulary=30), 3, set(range(26))
    prompt = draw(1, 4, vocabulary=30)
    live, kept = [(0.0, [])], []
    for n in range(1, 6):
        rows = torch.cat([prompt.expand(len(live), -1), torch.tensor([text for _, text in live]).long()], 1)
        logp = built(rows).logits[:, -1].double().log_softmax(-1)
        grown = sorted(
            ((total + logp[i, t].item(), [*text, t]) for i, (total, text) in enumerate(live) for t in range(30)),
            reverse=True,
        )
        kept += [(total / n**2, text) for total, text in grown[:width] if text[-1] in stops or n == 5]
        live = [one for one in grown if one[1][-1] not in stops][:width]
    wanted = sorted(kept, reverse=True)[:width]
    found = beam_search(
        built,
        Prompt(prompt),
        max_new_tokens=5,
        beams=width,
        length_penalty=2.0,
        ends=lambda texts: torch.isin(texts[..., -1], torch.tensor(sorted(stops))),
    )
    assert [[t for t in text if t != NONE] for text in found.tokens[0].tolist()] == [text for _, text in wanted]


def test_settings_that_a_search_does_not_heed_are_refused() -> None:
    built = small()
    for settings, words in (
        ({"beams": 2, "top_k": 2}, "leave out top_k=2"),
        ({"beams": 2, "temperature": 0.0}, "leave out temperature=0.0"),
        ({"beams": 0}, "beams=0 must be a whole number, at least 1"),
        ({"beams": 2, "length_penalty": -1.0}, "length_penalty=-1.0 must be at least 0"),
    ):
        with pytest.raises(UserError, match=words):
            generate(built, draw(1, 2, vocabulary=V), **settings)
