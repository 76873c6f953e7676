"""One request after another, and what may not leak from one into the next."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.helpers import OPTIONS, build, draw, model, model_node, real_of, with_window
from tests.inference.runs import rigged_run, run_of
from zoo.errors import UserError
from zoo.inference.complete import complete
from zoo.inference.fill import fill
from zoo.inference.generate import generate
from zoo.inference.influence import influence
from zoo.inference.looking import look
from zoo.probe import probe
from zoo.run import Run


@pytest.mark.parametrize("mixer", OPTIONS["mixer"])
def test_a_request_leaves_nothing_behind_for_the_next(mixer: str) -> None:
    built = model(mixer=with_window(mixer, 4))
    x, y = draw(2, 7), draw(2, 7, seed=1)
    first = generate(built, x, max_new_tokens=5)
    generate(built, y, max_new_tokens=5, beams=2)
    assert torch.equal(generate(built, x, max_new_tokens=5), first)
    turned = generate(built, x.flip(0), max_new_tokens=5, seeds=[4, 5])
    assert torch.equal(generate(built, x, max_new_tokens=5, seeds=[5, 4]), turned.flip(0))


@pytest.mark.parametrize("mixer", ["mha", "gqa"])
def test_a_source_that_is_padded_further_changes_nothing_that_is_said(mixer: str) -> None:
    built = model("transformer_2017", mixer=mixer)
    start, source = draw(1, 1), draw(1, 6, seed=2)
    said = [generate(built, start, source=source, max_new_tokens=8)]
    for width in (8, 16, 40):
        for side in ("left", "right"):
            real = real_of([6], width, side)
            wide = draw(1, width, seed=width).masked_scatter(real, source)
            said.append(generate(built, start, source=wide, source_padding=real, max_new_tokens=8))
    assert all(torch.equal(one, said[0]) for one in said)


@pytest.mark.parametrize(("mixer", "position"), [("mha", "rope"), ("sliding", "rope"), ("gqa", "sinusoidal")])
def test_a_text_may_grow_far_beyond_its_prompt_and_window(mixer: str, position: str) -> None:
    """As without a state, prompts longer than a window included."""
    built = model(mixer=with_window(mixer, 8), position=position)
    text = prompt = draw(1, 21)
    for _ in range(30):
        text = torch.cat([text, built(text).logits[:, -1].argmax(-1, keepdim=True)], 1)
    assert torch.equal(generate(built, prompt, max_new_tokens=30, temperature=0), text[:, 21:])


def test_logits_that_are_no_numbers_stop_with_a_sentence() -> None:
    """In every way of going on."""
    broken = build(model_node())
    with torch.no_grad():
        broken.head.out.weight.fill_(torch.nan)
    for settings in ({}, {"temperature": 0}, {"beams": 2}, {"draft": broken}):
        with pytest.raises(UserError, match="logits are not finite"):
            generate(broken, draw(1, 3), max_new_tokens=3, **settings)


def test_a_text_that_stops_inside_a_character_ends_with_one_replacement_mark() -> None:
    run = rigged_run("naïve 👩‍👩‍👧".encode())
    assert complete(run, "a", max_new_tokens=25) == ["naïve 👩‍👩‍👧"]
    assert complete(run, "a", max_new_tokens=3) == ["na\ufffd"]


REQUESTS: dict[str, Callable[[Run], Any]] = {
    "generate": lambda run: generate(run.model, draw(2, 3), max_new_tokens=8).tolist(),
    "beams": lambda run: generate(run.model, draw(2, 3), max_new_tokens=8, beams=2).tolist(),
    "draft": lambda run: generate(run.model, draw(1, 3), max_new_tokens=8, draft=run.model).tolist(),
    "fill": lambda run: fill(run, "the [MASK] is [MASK]"),
    "look": lambda run: [one.weights.tolist() for one in look(run.model, draw(1, 6)).looked],
    "influence": lambda run: influence(run.model, draw(1, 6))[0].tolist(),
    "probe": lambda run: probe(run.model),
}


@pytest.mark.unchecked
@pytest.mark.parametrize("name", REQUESTS)
def test_a_model_that_is_training_answers_without_dropout_and_goes_on_training(name: str) -> None:
    run = run_of("bert" if name == "fill" else "modern", dropout=0.5)
    wanted = REQUESTS[name](run)
    run.model.train()
    assert REQUESTS[name](run) == wanted
    assert all(module.training for module in run.model.modules())
