"""A compiled step = the plain one, for every length and capacity, with the weights as they are now."""

import gc
import logging
import shutil
import sys

import pytest
import torch

from tests.helpers import close, draw, model, option, real_of, with_window
from zoo.errors import UserError
from zoo.inference.compiled import CompiledStep
from zoo.inference.forecast import Forecast
from zoo.inference.generate import generate

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++ to compile with")


@needs_compiler
@pytest.mark.unchecked
def test_a_compiled_step_is_the_plain_step_at_every_length_and_follows_the_weights() -> None:
    entries = {"near": with_window("sliding", 4), "far": option("mixer", "gqa")}
    built = model(mixer={"name": "pattern", "layers": ["near", "far"], **entries})
    real, made = real_of([3, 1], 3, "left"), set()
    with torch.no_grad():
        for capacity in (9, 30):
            one, other = built.start(2, capacity), built.start(2, capacity)
            built(draw(2, 3), real, state=one)
            built(draw(2, 3), real, state=other)
            step = CompiledStep.of(built, one)
            made |= {id(step), id(CompiledStep.of(torch.compile(built), one))}
            for place in range(capacity - 3):
                token = draw(2, 1, seed=place)
                wanted = Forecast.of(built(token, state=other).logits[:, -1])
                found = step(token[:, 0], one)
                assert close(found.logits, wanted.logits)
                assert close(found.total, wanted.total)
                assert torch.equal(found.best, wanted.best)
            for parameter in built.parameters():
                parameter.mul_(1.1)
        assert len(made) == 1
        with pytest.raises(UserError, match="room"):
            step(token[:, 0], one)
    settings = {"padding": real_of([5, 2], 5, "left"), "max_new_tokens": 20, "temperature": 0}
    wanted = generate(built, draw(2, 5), **settings)
    assert torch.equal(generate(built, draw(2, 5), compiled=True, **settings), wanted)
    searched = {"padding": real_of([3], 5, "left"), "max_new_tokens": 12, "beams": 2}
    found = [generate(built, draw(1, 5), compiled=way, **searched) for way in (True, False)]
    assert torch.equal(*found)
    assert len(CompiledStep._made[built]) == 1
    copied = [one.untyped_storage() for one in step.packed.parameters()]
    assert all(one.nbytes() for one in copied)
    del built, step
    gc.collect()
    assert not any(one.nbytes() for one in copied)


def noisy() -> None:
    """What a compiler does that fails."""
    print("said on the way", file=sys.stderr)
    raise RuntimeError("no such kernel\nand where that was")


@needs_compiler
@pytest.mark.unchecked
def test_a_compiled_step_of_a_mixture_is_that_of_the_model_whatever_its_experts_get() -> None:
    built, prompt = model(ffn="moe"), draw(2, 3)
    assert torch.equal(*(generate(built, prompt, max_new_tokens=9, compiled=way) for way in (True, False)))


@pytest.mark.unchecked
def test_what_a_compiled_step_cannot_serve_is_refused_in_one_sentence(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch._inductor, "aoti_compile_and_package", lambda *_, **__: noisy())
    with pytest.raises(UserError, match=r"cannot be compiled \(no such kernel\)"):
        generate(model(), draw(2, 3), max_new_tokens=3, compiled=True)
    assert capfd.readouterr() == ("", "")
    assert not logging.root.manager.disable
    built, other = model(), model()
    state = built.start(1, 4)
    built(draw(1, 1), state=state)
    with pytest.raises(UserError, match="from at least 2 positions"):
        CompiledStep(built, state)
    with pytest.raises(UserError, match="belongs to another model"):
        CompiledStep(other, state)
