"""A compiled step = the plain one, for every length and capacity, with the weights as they are now."""

import shutil
from collections.abc import Iterator

import jaxtyping
import pytest
import torch

from tests.helpers import close, draw, model, option, real_of, with_window
from zoo.errors import UserError
from zoo.inference.compiled import CompiledStep
from zoo.inference.generate import generate

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++ to compile with")


@pytest.fixture
def unchecked() -> Iterator[None]:
    """While a program is recorded, lengths are symbols and no ints."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@needs_compiler
@pytest.mark.usefixtures("unchecked")
def test_a_compiled_step_is_the_plain_step_at_every_length_and_follows_the_weights() -> None:
    entries = {"near": with_window("sliding", 4), "far": option("mixer", "gqa")}
    built = model(mixer={"name": "pattern", "layers": ["near", "far"], **entries})
    with torch.no_grad():
        state = built.start(2, 9)
        built(draw(2, 3), state=state)
        step = CompiledStep.of(built, state)
        for capacity in (9, 30):
            one, other = built.start(2, capacity), built.start(2, capacity)
            built(draw(2, 3), state=one)
            built(draw(2, 3), state=other)
            for place in range(capacity - 3):
                token = draw(2, 1, seed=place)
                assert close(step(token[:, 0], one), built(token, state=other).logits[:, -1])
            for parameter in built.parameters():
                parameter.mul_(1.1)
        assert CompiledStep.of(built, one) is step
        with pytest.raises(UserError, match="room"):
            step(token[:, 0], one)
    prompt = draw(2, 5)
    wanted = generate(built, prompt, max_new_tokens=20, temperature=0)
    assert torch.equal(generate(built, prompt, max_new_tokens=20, temperature=0, compiled=True), wanted)


@pytest.mark.usefixtures("unchecked")
def test_what_a_compiled_step_cannot_serve_is_refused() -> None:
    built = model()
    cases = [
        (built, {"padding": real_of([3, 2], 3, "left")}, "without padding"),
        (model(topology="prefix_lm"), {}, "without padding, prefix"),
        (model(topology="encoder_decoder"), {"source": draw(2, 4)}, "without padding, prefix and source"),
        (model(ffn="moe"), {}, "cannot be compiled"),
    ]
    for one, inputs, words in cases:
        with pytest.raises(UserError, match=words):
            generate(one, draw(2, 3), max_new_tokens=3, compiled=True, **inputs)
