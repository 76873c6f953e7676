"""A model that `torch.compile` wrapped is taken as itself, and nothing is compiled for it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest
import torch

import zoo
from tests.helpers import close, draw
from tests.inference.runs import run_of
from zoo.errors import UserError
from zoo.inference.complete import complete
from zoo.inference.fill import fill
from zoo.inference.generate import generate
from zoo.inference.latency import Plan, measure
from zoo.model import Model
from zoo.probe import probe
from zoo.published.writing import export
from zoo.run import Run

RUN, SMALL = run_of(), run_of(seed=1)
PLAN = Plan(prompts=(3,), batches=(1,), new_tokens=2, repetitions=1, warm_up=0)


def never(*_: Any) -> NoReturn:
    """A compiler that must not be asked."""
    raise AssertionError("something was compiled")


def wrapped(model: Model) -> Any:
    return torch.compile(model, backend=never)


def in_run(run: Run) -> Run:
    return replace(run, model=wrapped(run.model))


@pytest.mark.unchecked
@pytest.mark.parametrize(
    "ask",
    [
        lambda model, _: generate(model(RUN), draw(2, 3), max_new_tokens=3).tolist(),
        lambda model, _: generate(model(RUN), draw(2, 3), max_new_tokens=3, beams=2).tolist(),
        lambda model, _: generate(RUN.model, draw(1, 3), max_new_tokens=3, draft=model(SMALL)).tolist(),
        lambda _, run: complete(run(RUN), "the agent", max_new_tokens=3),
        lambda _, run: complete(RUN, "the agent", max_new_tokens=3, draft=run(SMALL)),
        lambda _, run: fill(run(run_of("bert")), "the [MASK]gent"),
        lambda model, _: [one.state_bytes for one in measure(model(RUN), PLAN)],
    ],
    ids=["generate", "beams", "draft", "complete", "draft of a run", "fill", "latency"],
)
def test_a_compiled_model_says_what_the_model_says(ask: Callable[[Any, Any], Any]) -> None:
    assert ask(lambda run: wrapped(run.model), in_run) == ask(lambda run: run.model, lambda run: run)


@pytest.mark.unchecked
def test_a_compiled_model_has_the_probe_of_the_model() -> None:
    assert close(torch.tensor(probe(wrapped(RUN.model))), torch.tensor(probe(RUN.model)))


@pytest.mark.unchecked  # which would refuse them first
@pytest.mark.parametrize("given", [RUN.model, "runs/mine", None], ids=["a model", "a path", "nothing"])
def test_what_is_no_run_is_refused_with_one_sentence(given: Any, tmp_path: Path) -> None:
    said = f"must be a run, as zoo.load\\(path\\) is one; got {type(given).__name__}"
    for ask in (lambda: complete(given, "a"), lambda: fill(given, "[MASK]"), lambda: export(given, tmp_path / "out")):
        with pytest.raises(UserError, match=f"^run {said}"):
            ask()
    if given is not None:
        with pytest.raises(UserError, match=f"^the draft {said}"):
            complete(RUN, "a", draft=given)
    assert not (tmp_path / "out").exists()


@pytest.mark.unchecked  # which would refuse them first
@pytest.mark.parametrize("given", [3, None, b"runs", ["runs"]], ids=repr)
def test_what_is_no_path_is_refused_with_one_sentence(given: Any) -> None:
    for name, ask in (
        ("path", lambda: zoo.load(given)),
        ("folder", lambda: zoo.study.load(given)),
        ("to", lambda: export(RUN, given)),
    ):
        with pytest.raises(UserError, match=f"^{name} must be a path, as a text or .* \\({type(given).__name__}\\)$"):
            ask()


@pytest.mark.unchecked
def test_a_source_that_is_no_tensor_is_refused_with_one_sentence() -> None:
    wrong: Any = [[3]]
    with pytest.raises(UserError, match=r"^source must be a tensor of whole numbers of shape \(B, T\), got list"):
        generate(RUN.model, draw(1, 3), source=wrong)
