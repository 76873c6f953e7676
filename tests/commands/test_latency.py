"""`evaluate.py latency.prompts=…` leaves numbers that agree with each other, and a page that draws itself."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands.conftest import Command
from tests.page.chromium import CHROMIUM, Browser
from zoo.study.measured import misfit


@pytest.fixture
def folder(trained: Callable[..., Path]) -> Path:
    """A trained run."""
    return trained("model/mixer=sliding")


def test_both_phases_are_measured_and_drawn(command: Command, folder: Path) -> None:
    wanted = ("latency.prompts=[4,40]", "latency.batches=[1,3]", "latency.new_tokens=20", "latency.repetitions=3")
    done = command("evaluate", f"run='{folder}'", *wanted, "json=copy.json", "runtime.threads=1")
    assert done.code == 0, done.err
    assert "TTFT ms" in done.out
    places = [(4, 1), (4, 3), (40, 1), (40, 3)]
    told = [f"measuring prompt {prompt}, batch {batch} ({i} of 4)" for i, (prompt, batch) in enumerate(places, start=1)]
    assert done.err.splitlines() == told
    assert not misfit(json.loads((folder / "latency.json").read_text()))
    assert "TTFT: time to the first token" in done.out  # what the columns mean
    found = json.loads((folder / "latency.json").read_text())
    assert json.loads(Path("copy.json").read_text()) == found
    rows = found["measurements"]
    assert [(one["prompt"], one["batch"]) for one in rows] == [(4, 1), (4, 3), (40, 1), (40, 3)]
    for one in rows:
        for spread in (one["first_token_seconds"], one["token_seconds"], one["tokens_per_second"]):
            assert 0 < spread["low"] <= spread["median"] <= spread["high"]
        kept = min(one["prompt"] + 20, 32) * 2 * 16 * 2 * 4  # a window of 32; keys and values, width, layers, bytes
        assert one["state_bytes"] == one["state_bytes_counted"] == one["batch"] * kept
        assert one["peak_bytes"] > one["state_bytes"]
        places = [at["position"] for at in one["by_position"]]
        assert places == sorted(set(places))
        assert one["prompt"] < places[0] <= places[-1] <= one["prompt"] + 20
    if not CHROMIUM.exists():
        pytest.skip(f"no {CHROMIUM} to open the page with")
    with Browser() as browser:
        for width in (400, 1600):
            browser.open(folder / "latency.html", width=width)
            assert browser.ask("document.querySelectorAll('.chart .main-svg').length") >= 4
            assert browser.ask("document.documentElement.scrollWidth <= innerWidth")
        assert not browser.complaints
        assert [one for one in browser.requests if not one.startswith(("file:", "data:", "blob:"))] == []


REFUSED = {
    "latency.prompts=[]": "latency.prompts=[] must list whole numbers",
    "latency.prompts=[0]": "at least 1",
    "latency.prompts=x": "must be a list",
    "latency.prompts=[4,2,4]": "latency.prompts names 4 twice; name each once",
    "latency.prompts=[4] latency.batches=[1,1]": "latency.batches names 1 twice; name each once",
    "latency.prompts=[4] latency.new_tokens=1": "new_tokens of at least 2",
    "latency.prompts=[4] latency.repetitions=0": "latency.repetitions=0 must be at least 1",
}


def test_what_cannot_be_measured_is_refused(command: Command, folder: Path) -> None:
    for override, words in REFUSED.items():
        done = command("evaluate", f"run='{folder}'", *override.split())
        assert done.code == 2, override
        assert words in done.err
        assert done.err.count("\n") == 1
    assert not (folder / "latency.json").exists()


@pytest.mark.parametrize(
    ("model", "said"), [("bert", "cannot go on token by token"), ("gpt2", "need more positions than the")]
)
def test_a_model_that_cannot_go_on_is_refused_before_anything_is_said(
    command: Command, trained: Callable[..., Path], model: str, said: str
) -> None:
    folder = trained(f"model={model}")
    done = command("evaluate", f"run='{folder}'", "latency.prompts=[2,9999]", "latency.batches=[1]")
    assert done.code == 2
    assert said in done.err
    assert done.err.count("\n") == 1
