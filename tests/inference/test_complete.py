"""Texts in, texts out."""

from dataclasses import fields
from typing import Any

import pytest
import torch

import zoo
from tests.helpers import CAUSAL_TOPOLOGIES, composed, learned
from tests.inference.runs import rigged_run, run_of, words
from zoo.data.tokenizer.chars import Chars
from zoo.errors import UserError
from zoo.inference.compiled import CompiledStep
from zoo.inference.complete import complete, continuations
from zoo.inference.forecast import Forecast
from zoo.inference.opening import open_with
from zoo.inference.settings import Settings
from zoo.inference.stream import GoOn
from zoo.model import Model
from zoo.run import Run
from zoo.state import ModelState


def test_rows_end_by_their_own_stop_texts() -> None:
    run = rigged_run(b"one. two. three.", b"four, five, six.")
    found = continuations(run, ["a", "b"], Settings(stop=("two", ",")))
    assert [(one.text, one.ended) for one in found] == [("one. ", "stop 'two'"), ("four", "stop ','")]
    assert [one.text for one in continuations(run, ["a", "b"], Settings(max_new_tokens=3))] == ["one", "fou"]


def test_a_continuation_depends_on_its_prompt_and_seed_alone() -> None:
    run, prompts = run_of(), ["The ", "A longer prompt, ", "é"]
    together = complete(run, prompts, samples=3, seed=5, max_new_tokens=9)
    assert len(together) == 9
    for i, prompt in enumerate(prompts):
        alone = complete(run, prompt, samples=3, seed=5, max_new_tokens=9)
        assert alone == together[3 * i : 3 * i + 3]
        assert complete(run, prompt, seed=7, max_new_tokens=9) == alone[2:]
    assert len(set(together)) > 3


DRAWING: list[dict[str, Any]] = [{"temperature": 0.0}, {"samples": 4}, {"samples": 2, "top_p": 0.5}]


@pytest.mark.parametrize(
    ("how", "drafted"), [*((how, drafted) for how in DRAWING for drafted in (False, True)), ({"beams": 4}, False)]
)
def test_the_marks_that_are_no_text_are_never_said(how: dict[str, Any], drafted: bool) -> None:
    run = run_of()
    with torch.no_grad():
        run.model.head.out.weight[[256, 258]] = 40 * run.model.head.out.weight[:1]
    found = continuations(run, ["a"], Settings(max_new_tokens=10, **how), run if drafted else None)
    said = {token for one in found for token in one.tokens}
    assert said
    assert not said & {run.tokenizer.special.start, run.tokenizer.special.mask}


OTHER: dict[str, Any] = {
    "max_new_tokens": 3,
    "temperature": 0.3,
    "top_k": 2,
    "top_p": 0.3,
    "min_p": 0.3,
    "repetition_penalty": 3.0,
    "beams": 2,
    "length_penalty": 3.0,
    "samples": 2,
    "stop": "e",
    "seed": 1,
    "drafted": 1,
}
"""Another value than the default for each setting."""


@pytest.mark.parametrize("key", [field.name for field in fields(Settings)])
def test_every_setting_changes_what_is_said(key: str) -> None:
    run = rigged_run(b"one two three", b"four five six") if key == "stop" else run_of()
    draft = run_of(seed=1) if key == "drafted" else None
    beside = {"length_penalty": {"beams": 3}}.get(key, {})
    usual, other = (
        continuations(run, ["a", "b"], Settings(**({"max_new_tokens": 8} | beside | values)), draft)
        for values in ({}, {key: OTHER[key]})
    )
    assert usual != other


@pytest.mark.parametrize("topology", CAUSAL_TOPOLOGIES)
def test_a_run_opens_a_text_as_it_was_trained_to(topology: str) -> None:
    tokenizer = words()
    model = run_of("transformer_2017" if topology == "encoder_decoder" else "modern", tokenizer, topology=topology)
    seq2seq = Run(model.model, tokenizer, {"objective": composed("objective=seq2seq")["objective"]}, 0)
    prompt = open_with(seq2seq, ["the agent", "the"])
    start, text = tokenizer.special.start, tokenizer.encode(b"the agent").tolist()
    if topology == "encoder_decoder":
        assert prompt.tokens.tolist() == [[start], [start]]
        assert prompt.source[0].tolist() == text
        assert prompt.source_padding.tolist() == [[True, True], [False, True]]
    else:
        assert prompt.tokens[0].tolist() == [*text, start]
        assert prompt.padding.tolist() == [[True] * 3, [False, True, True]]
    assert len(complete(seq2seq, ["the agent", "the"], max_new_tokens=4)) == 2


def bad_prompts() -> list[tuple[Run, object, dict[str, object], str]]:
    """A run, a prompt, settings, and what is said against them."""
    letters = Chars()
    letters.train([b"only these"])
    run = run_of()
    return [
        (run, "", {}, "the prompt is empty"),
        (run, [], {}, "there is no prompt"),
        (run, "\ud800", {}, "half a character at place 0"),
        (run_of(tokenizer=letters), "only this", {}, "does not know 'is', at character 7"),
        (run_of(tokenizer=words()), "the agent vanished", {}, "does not know ' vanished', at character 9"),
        (run_of(tokenizer=words()), "the [MASK] learns", {}, r"^\[MASK\] needs a run of objective=masked"),
        (run_of(tokenizer=letters), "only [MASK]", {}, r"^\[MASK\] needs a run of objective=masked"),
        (run_of(tokenizer=words()), "the unfathomable agent", {}, "does not know ' unfathomable', at character 3 "),
        (run_of(tokenizer=words()), "agent", {}, "does not know 'agent', .*; begin with a space"),
        (run_of(position=learned(8)), "12345", {}, "a prompt of 5 and 64 new tokens need more positions than the 8"),
        (run_of("bert"), "the ", {}, "fills blanks and cannot go on from a text: zoo.fill"),
        (Run(run.model, run.tokenizer, {"objective": {"name": "tagging"}}, 0), "a", {}, "trained to label texts"),
        (run, "a", {"beams": 2, "samples": 3}, "beams=2 cannot give samples=3"),
        (run, "a", {"beams": 2, "top_k": 3}, "leave out top_k=3"),
        (run, "a", {"temperature": 0, "top_k": 3}, "top_k=3 does nothing at temperature=0"),
        (run, "a", {"length_penalty": 3}, "length_penalty=3.0 does nothing without beams"),
        (run, "a", {"stop": ""}, "stop has an empty text"),
        (run, "a", {"stop": 5}, "zoo.complete.stop must be"),
        (run, "a", {"samples": 0}, "samples=0 must be at least 1"),
        (
            run,
            "a",
            {"samples": 3, "temperature": 0},
            "samples=3 would all say the same: .* or beams=3",
        ),
        (run, "a", {"seed": -1}, "seed=-1 must be at least 0"),
        (run, "a", {"top_q": 1}, r"has no 'top_q' \(did you mean top_p\?\)"),
        (run, "a", {"top_p": "0.9"}, "top_p must be a number"),
        (run, "a", {"max_new_tokens": -1}, "max_new_tokens=-1 must be a whole number"),
        (run, "a", {"temperature": -1}, "temperature=-1.0 must be 0"),
    ]


def test_what_cannot_be_gone_on_from_is_refused_with_one_sentence() -> None:
    for run, prompt, settings, words_said in bad_prompts():
        with pytest.raises(UserError, match=words_said):
            complete(run, prompt, **settings)


def test_steps_are_compiled_where_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    run, made = run_of(), []

    def of(model: Model, state: ModelState) -> GoOn:
        made.append(len(state.history.positions))
        return lambda tokens, state: Forecast.of(model(tokens[:, None], state=state).logits[:, -1])

    monkeypatch.setattr(CompiledStep, "of", of)
    settings = Settings(max_new_tokens=3, samples=2)
    assert continuations(run, ["The "], settings, compiled=True) == continuations(run, ["The "], settings)
    assert made == [2]


def test_it_is_offered_by_the_package() -> None:
    assert zoo.complete is complete


def test_a_beam_gives_its_best_texts_and_ends_at_a_stop_text() -> None:
    run = run_of(tokenizer=words())
    best = continuations(run, ["the agent"], Settings(beams=6, samples=3, max_new_tokens=5))
    scores = [one.score for one in best]
    assert scores == sorted(scores, reverse=True)
    assert len({one.tokens for one in best}) == 3
    assert all(one.seed is None for one in best)
    stop = best[0].text[1:4]
    by_sums = Settings(beams=6, samples=6, max_new_tokens=5, stop=stop, length_penalty=0.0)
    cut = continuations(run, ["the agent"], by_sums)
    assert all(stop not in one.text for one in cut)
    assert any(one.ended == f"stop {stop!r}" for one in cut)


def test_a_draft_leaves_what_is_said_as_it_is() -> None:
    run, draft = run_of(), run_of(seed=1)
    settings = {"max_new_tokens": 7, "temperature": 0.0, "stop": "e"}
    assert complete(run, ["The ", "so"], draft=draft, **settings) == complete(run, ["The ", "so"], **settings)
    drawn = [complete(run, "The ", draft=draft, samples=2, max_new_tokens=5, seed=seed) for seed in (0, 1)]
    assert drawn[0][1] == drawn[1][0]
    letters = [Chars(), Chars()]
    for tokenizer, text in zip(letters, (b"abc", b"abd"), strict=True):
        tokenizer.train([text])
    with pytest.raises(UserError, match="the draft was trained with another tokenizer"):
        complete(run_of(tokenizer=letters[0]), "ab", draft=run_of(tokenizer=letters[1]))
