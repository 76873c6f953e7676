"""Masked models fill blanks with what they find most probable, or with what they are asked to draw."""

from dataclasses import fields
from typing import Any

import pytest
import torch
from scipy.stats import chisquare
from torch import Tensor

from tests.inference.runs import TEXT, run_of, words
from zoo.data.tokenizer.bpe import Bpe
from zoo.data.tokenizer.bytes import Bytes
from zoo.data.tokenizer.chars import Chars
from zoo.errors import UserError
from zoo.inference.fill import Filling, encode_blanks, fill, fillings
from zoo.run import Run

BLANKS = "the [MASK] learns[MASK] the[MASK] learns"


def masked_run() -> Run:
    return run_of("bert", words())


def by_confidence(run: Run, tokens: Tensor) -> list[int]:
    """One text, the surest blank first, by a plain loop."""
    mask, text = run.tokenizer.special.mask, tokens.tolist()
    while mask in text:
        p = run.model(torch.tensor([text])).logits[0].double()[:, : run.tokenizer.text_ids].softmax(-1)
        place = max((i for i, token in enumerate(text) if token == mask), key=lambda i: p[i].max().item())
        text[place] = int(p[place].argmax())
    return text


def test_blanks_are_filled_by_confidence_or_together() -> None:
    run = masked_run()
    tokens = encode_blanks(run.tokenizer, BLANKS)
    assert fill(run, BLANKS) == [run.tokenizer.decode(by_confidence(run, tokens))]
    best = run.model(tokens[None]).logits[0][:, : run.tokenizer.text_ids].argmax(-1)
    together = torch.where(tokens == run.tokenizer.special.mask, best, tokens)
    assert fill(run, BLANKS, order="together") == [run.tokenizer.decode(together)]
    (one,) = fillings(run, [BLANKS], Filling(order="together"))
    assert one.blanks == tuple(run.tokenizer.decode([token]) for token in best[tokens == run.tokenizer.special.mask])


OTHER: dict[str, Any] = {
    "temperature": 0.1,
    "top_k": 1,
    "top_p": 0.1,
    "min_p": 1.0,
    "samples": 2,
    "seed": 1,
    "order": "together",
}
"""Another value than the default for each setting."""


@pytest.mark.parametrize("key", [field.name for field in fields(Filling)])
def test_every_setting_changes_what_is_filled_in(key: str) -> None:
    run, usual = masked_run(), {} if key == "order" else {"temperature": 1.0}
    said = [fill(run, f"{BLANKS} {BLANKS}", **values) for values in (usual, usual | {key: OTHER[key]})]
    assert said[0] != said[1]


@pytest.mark.parametrize("order", ["confidence", "together"])
def test_a_text_is_filled_the_same_whatever_else_is_in_the_batch(order: str) -> None:
    run, texts = masked_run(), [BLANKS, "[MASK]", "the agent[MASK]"]
    for temperature, samples in ((0, 1), (1.0, 2)):
        settings = {"temperature": temperature, "samples": samples, "seed": 3, "order": order}
        together = fill(run, texts, **settings)
        assert together == [one for text in texts for one in fill(run, text, **settings)]


def test_drawn_tokens_are_distributed_as_the_model_says() -> None:
    run = masked_run()
    tokens = encode_blanks(run.tokenizer, "the[MASK] learns")
    p = run.model(tokens[None]).logits[0, 1, : run.tokenizer.text_ids].double().softmax(-1).detach()
    drawn = fillings(run, ["the[MASK] learns"], Filling(temperature=1.0, samples=2000))
    said = [run.tokenizer.texts.index(one.blanks[0].encode()) for one in drawn if one.blanks[0] != "\ufffd"]
    counts = torch.bincount(torch.tensor(said), minlength=len(p)).double()
    counts[-1] = 2000 - counts.sum()
    often = p * 2000 >= 5
    observed = torch.cat([counts[often], counts[~often].sum()[None]])
    expected = torch.cat([p[often], p[~often].sum()[None]]) * 2000
    assert chisquare(observed[expected > 0].numpy(), expected[expected > 0].numpy()).pvalue > 0.001


def test_a_blank_is_one_token_and_takes_the_space_of_its_word() -> None:
    letters, pieces = Chars(), Bpe(vocabulary=300)
    for tokenizer in (letters, pieces):
        tokenizer.train([TEXT])
    for tokenizer, before in ((Bytes(), b"the "), (letters, b"the "), (pieces, b"the"), (words(), b"the")):
        first = tokenizer.encode(before).tolist()
        ids = encode_blanks(tokenizer, "the [MASK] learns").tolist()
        assert ids == [*first, tokenizer.special.mask, *tokenizer.encode(b" learns").tolist()]


def test_what_cannot_be_filled_is_refused_with_one_sentence() -> None:
    cases = [
        (masked_run(), "the agent", {}, r"it does not go on from a text: write \[MASK\]"),
        (masked_run(), "", {}, r"write \[MASK\] where a token is missing"),
        (masked_run(), "the [MASK]", {"top_k": 5}, "top_k=5 does nothing at temperature=0"),
        (masked_run(), "the[MASK] vanishes", {}, "does not know ' vanishes'"),
        (run_of(), "the[MASK]", {}, "was not trained to fill blanks"),
        (masked_run(), "[MASK]", {"order": "left"}, "choose from confidence, together"),
        (masked_run(), "[MASK]", {"samples": 0}, "samples=0 must be at least 1"),
        (masked_run(), "[MASK]", {"samples": 2}, "samples=2 would all say the same"),
        (masked_run(), [], {}, "there is no text"),
    ]
    for run, text, settings, said in cases:
        with pytest.raises(UserError, match=said):
            fill(run, text, **settings)
