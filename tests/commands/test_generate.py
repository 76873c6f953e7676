"""evaluate.py lets a run speak."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import zoo
from tests.commands.conftest import Command
from zoo.inference.reading import Reading


@pytest.fixture
def folder(trained: Callable[..., Path]) -> Path:
    """A trained run."""
    return trained()


SHORT = ("generate.max_new_tokens=12", "runtime.threads=1")
PROMPT = 'it\'s [MASK], ${x} = \\ "or"'
REFUSED = {
    "no prompt": ("generate.prompt=", "the prompt is empty"),
    "an empty list": ("generate.prompt=[]", "generate.prompt is an empty list"),
    "a temperature that is none": ("generate.temperature=hot", "generate.temperature must be a number, got 'hot'"),
    "samples that are one": (
        "generate.samples=3 generate.temperature=0",
        "samples=3 would all say the same",
    ),
    "no samples": ("generate.samples=0", "samples=0 must be at least 1"),
    "a key that is none": ("generate.top_q=1", "no key 'generate.top_q'"),
    "an order to stop at nothing": ("generate.stop=['']", "stop has an empty text"),
}


def test_a_run_speaks_and_what_it_says_is_written_down(command: Command, folder: Path) -> None:
    asked = (f"run='{folder}'", f"generate.prompt={PROMPT}", *SHORT)
    said = command("evaluate", *asked, "generate.samples=2", "json=a.json")
    assert said.code == 0, said.err
    written = json.loads(Path("a.json").read_text())
    assert [one["prompt"] for one in written] == [PROMPT, PROMPT]
    assert [one["seed"] for one in written] == [0, 1]
    texts = [one["text"] for one in written]
    assert said.out == "".join(f"— sample {i + 1}, seed {i} —\n{text}\n" for i, text in enumerate(texts))
    assert texts == zoo.complete(zoo.load(folder), PROMPT, samples=2, max_new_tokens=12)
    whole = command("evaluate", *asked, "generate.stream=false")
    assert whole.out == f"{texts[0]}\n"
    own = command("evaluate", *asked, f"generate.draft='{folder}'", "generate.samples=2", "json=b.json")
    counts = [one["guesses"] for one in json.loads(Path("b.json").read_text())]
    proposed = sum(one["proposed"] for one in counts)
    assert proposed == sum(one["kept"] for one in counts) > 10  # a run that guesses for itself is always right
    assert own.err == f"{proposed} of {proposed} guesses kept (100%)\n"
    several = command("evaluate", f"run='{folder}'", "generate.prompt=['a','line 1']", *SHORT)
    assert several.out.startswith("— sample 1 of 'a', seed 0 —\n")


def test_a_text_that_is_broken_off_ends_its_line(
    command: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pushed = Reading.push

    def push(self: Reading, token: int) -> bool:
        if len(self.text) > 2:
            raise KeyboardInterrupt
        return pushed(self, token)

    monkeypatch.setattr(Reading, "push", push)
    said = command("evaluate", f"run='{folder}'", "generate.prompt=line 1", "generate.stop=[]", *SHORT)
    assert said.code == 130
    assert len(said.out) > 2
    assert said.out.endswith("\n")
    assert said.err == "interrupted\n"


def test_what_cannot_be_said_is_refused_with_one_sentence(command: Command, folder: Path) -> None:
    for override, words in REFUSED.values():
        prompt = () if "prompt" in override else ("generate.prompt=a",)
        done = command("evaluate", f"run='{folder}'", *prompt, *override.split(), *SHORT)
        assert done.code == 2, override
        assert words in done.err
        assert done.err.count("\n") == 1
