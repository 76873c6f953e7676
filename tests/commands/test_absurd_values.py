"""Every key outside the model, with absurd values: a sentence or a legal run, never a traceback."""

from collections.abc import Iterator
from copy import deepcopy
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest

import zoo.memory
from tests.commands.conftest import TINY
from zoo.command.compose import compose
from zoo.config import parse, plain
from zoo.data.source import sources
from zoo.errors import RunFailed, UserError
from zoo.jobs.generate import generate
from zoo.jobs.latency import latency
from zoo.jobs.score import score
from zoo.jobs.train import train
from zoo.jobs.translation import translation
from zoo.paths import CONF

ABSURD = (-1, 0, -0.5, 1e300, inf, nan, "text", "", None, True, [], [1, 2], {"a": 1}, 10**400)
SMALL = ("model.n_layers=1", *TINY, "budget.steps=2", "budget.evaluate_batches=1", "data=text")


def options(group: str) -> list[str]:
    """The option files of a group."""
    return sorted(path.stem for path in (CONF / group).glob("*.yaml"))


def leaves(node: dict[str, Any], where: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The places of all values, and of the nodes they are in."""
    for key, value in node.items():
        yield (*where, key)
        if isinstance(value, dict):
            yield from leaves(value, (*where, key))


def with_value(node: dict[str, Any], place: tuple[str, ...], value: Any) -> dict[str, Any]:
    """A copy of the node that has that value there."""
    changed = deepcopy(node)
    inner = changed
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return changed


def bear(function: Any, node: dict[str, Any], place: tuple[str, ...]) -> None:
    """Call it with each absurd value at that place."""
    for value in ABSURD:
        if place[-1] == "compile" and value is True:
            continue  # right, and slow
        try:
            function(with_value(node, place, value))
        except (UserError, RunFailed):
            continue
        except BaseException as error:
            raise AssertionError(f"{'.'.join(place)}={value!r}"[:200]) from error


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with a short text, to start from."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.txt").write_text("a line, and another one\n" * 100)
    return tmp_path


MASKED = ("model=bert", "objective=masked")
CASES = {
    "train": (),
    **{f"optimizer={name}": (f"optimizer={name}",) for name in options("optimizer")},
    **{f"schedule={name}": (f"schedule={name}", "schedule.warmup=1") for name in options("schedule")},
    **{f"tokenizer={name}": (f"tokenizer={name}",) for name in options("tokenizer")},
    "objective=masked": MASKED,
    "objective=seq2seq": ("objective=seq2seq", "model/topology=prefix_lm"),
}
"""Each case looks at the keys of the group that it names; the first one at all the others."""


@pytest.mark.parametrize("case", CASES)
def test_a_key_of_train_with_an_absurd_value_is_refused_or_runs(here: Path, case: str) -> None:
    node = plain(compose(["data.path=t.txt", *SMALL, *CASES[case]]))
    group = case.partition("=")[0]
    chosen = {"objective", "optimizer", "schedule", "tokenizer", "model"}
    for place in leaves(node):
        if place[0] == group or (group == "train" and place[0] not in chosen):
            bear(lambda changed: train(changed, {}, []), node, place)


@pytest.mark.parametrize("data", options("data"))
def test_a_key_of_a_source_with_an_absurd_value_is_refused_or_taken(here: Path, data: str) -> None:
    path = ("data.path=t.txt",) if data in ("text", "pairs") else ()
    node = plain(compose([f"data={data}", *path, "budget.context=64"]))
    del node["resume"]
    for place in leaves({"data": node["data"]}):
        bear(lambda changed: sources.build(parse(changed).data), node, place)


def test_a_key_of_evaluate_with_an_absurd_value_is_refused_or_runs(here: Path) -> None:
    folder = train(plain(compose(["data.path=t.txt", *SMALL])), {}, [])
    node = plain(compose([f"run={folder}", "runtime.threads=1", "batches=1"], config="evaluate"))
    for place in leaves(node):
        if len(place) == 1 or place[0] in ("data", "runtime"):  # what is inside the others is not read to score
            bear(score, node, place)


def test_a_key_of_translation_with_an_absurd_value_is_refused_or_runs(here: Path) -> None:
    (here / "t.tsv").write_text("".join(f"{i}\tnumber {i}\n" for i in range(200)))
    words = ("model=transformer_2017", *SMALL, "data=pairs", "data.path=t.tsv", "model.n_layers=1")
    folder = train(plain(compose(words)), {}, [])
    node = plain(compose([f"run={folder}", "runtime=reference", "translation.pairs=2"], config="evaluate"))
    for place in (("translation",), ("translation", "pairs"), ("splits",), ("batch_size",), ("json",), ("strict",)):
        bear(translation, node, place)


MANY = 10**9
PROMPT = {"prompt": "a", "stream": False}


@pytest.mark.parametrize("key", ["batch_size", "accumulate"])
def test_more_rows_than_any_memory_holds_are_refused_at_once(here: Path, key: str) -> None:
    node = plain(compose(["data.path=t.txt", *SMALL, "budget.context=512"]))
    node["budget"] |= {key: MANY}
    node["data"] |= {"split": [0.5, 0.25, 0.25]}
    with pytest.raises(UserError, match=r"rows? .*need at least [\d,]+ GiB, and there are [\d,]+ GiB; make budget\."):
        train(node, {}, [])
    assert not (here / "runs").exists()


@pytest.mark.parametrize("key", ["samples", "max_new_tokens"])
def test_more_texts_than_any_memory_holds_are_refused_at_once(
    here: Path, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zoo.memory, "total_memory", lambda device: 16 * 2**30)
    folder = train(plain(compose(["data.path=t.txt", *SMALL])), {}, [])
    node = plain(compose([f"run={folder}", "runtime.threads=1"], config="evaluate"))
    node["generate"] |= PROMPT | {key: MANY}
    said = r"texts? of [\d,]+ new tokens need at least [\d,]+ GiB, and there are 16 GiB; make max_new_tokens, samples"
    with pytest.raises(UserError, match=said):
        generate(node)
    node["generate"] |= PROMPT | {key: 2}
    assert generate(node)
    node["generate"] |= {"samples": 1, "beams": 10_000, "max_new_tokens": 10**6}
    with pytest.raises(UserError, match=said):
        generate(node)
    node["generate"] |= {"beams": 10**6, "max_new_tokens": 2}
    with pytest.raises(UserError, match="a search has at most 10000 beams, got beams=1000000"):
        generate(node)
    for asked in ({"prompts": [4, MANY]}, {"prompts": [4], "batches": [1, MANY]}, {"prompts": [4], "new_tokens": MANY}):
        timing = node | {"latency": node["latency"] | {"batches": [1]} | asked}
        with pytest.raises(UserError, match=r"prompts? of [\d,]+ tokens .* at least [\d,]+ GiB, .*; make latency\."):
            latency(timing)
    # the state of 3,000 fits, but not together with its reading
    monkeypatch.setattr(zoo.memory, "total_memory", lambda device: 200_000)
    node["generate"] |= {"prompt": "ab" * 1500, "beams": 1, "max_new_tokens": 1}
    with pytest.raises(UserError, match="1 text of 1 new tokens need"):
        generate(node)
