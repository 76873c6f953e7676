"""`evaluate.py attention.text=…` draws every head, offline."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands.conftest import Command
from tests.page.chromium import CHROMIUM, Browser

TEXT = "line 7 says that"


def test_every_head_is_drawn_on_a_page_that_asks_for_nothing(command: Command, trained: Callable[..., Path]) -> None:
    folder = trained()
    done = command("evaluate", f"run='{folder}'", f"attention.text='{TEXT}'", "json=seen.json")
    assert done.code == 0, done.err
    assert "effective rank" in done.out
    found = json.loads(Path("seen.json").read_text())
    assert "".join(found["tokens"]) == TEXT
    assert [len(one["weights"]) for one in found["mixers"]] == [4, 4]
    for words, override in {
        "attention.text is empty": "attention.text=''",
        "tokens, and 96 can be drawn": f"attention.text='{'a' * 97}'",
        "reads no source": "attention.text=a attention.source=b",
    }.items():
        refused = command("evaluate", f"run='{folder}'", *override.split())
        assert refused.code == 2
        assert words in refused.err
    if not CHROMIUM.exists():
        pytest.skip(f"no {CHROMIUM} to open the page with")
    with Browser() as browser:
        for width in (400, 1600):
            browser.open(folder / "attention.html", width=width)
            assert browser.ask("document.querySelectorAll('.heatmaplayer image').length") == 9
            assert browser.ask("document.documentElement.scrollWidth <= innerWidth")
        assert not browser.complaints
        assert [one for one in browser.requests if not one.startswith(("file:", "data:", "blob:"))] == []


def test_a_text_that_the_tokenizer_does_not_know_is_refused(command: Command, trained: Callable[..., Path]) -> None:
    folder = trained("tokenizer=chars")
    done = command("evaluate", f"run='{folder}'", "attention.text='the Ω'")
    assert done.code == 2
    assert "does not know 'Ω', at character 4 of attention.text" in done.err


def test_a_translator_shows_self_and_cross_attention(
    command: Command, trained: Callable[..., Path], pairs: Path
) -> None:
    folder = trained("model=transformer_2017", "data=pairs", "data.path=pairs.tsv")
    done = command(
        "evaluate", f"run='{folder}'", "attention.text=number", "attention.source='12'", "attention.out=x.html"
    )
    assert done.code == 0, done.err
    for name in ("encoder layer 1", "decoder layer 2", "decoder layer 2, cross"):
        assert name in Path("x.html").read_text()


def test_on_the_toy_language_heads_are_asked_for_the_referent(
    command: Command, trained: Callable[..., Path], corpora: str
) -> None:
    folder = trained("data=toy", "tokenizer=words", "data.tokens=[20000,2000,2000]", "budget.context=48", corpora)
    done = command("evaluate", f"run='{folder}'", "attention.text='about farms.'", "json=seen.json", corpora)
    assert done.code == 0, done.err
    found = json.loads(Path("seen.json").read_text())
    assert 0 < found["even"]["reference"] < 1
    grounds = [head["grounds"]["reference"] for one in found["mixers"] for head in one["heads"]]
    assert all(0 < one < 1 for one in grounds)
    assert len(set(grounds)) > 1
    numbers, by_skill = (part.splitlines()[: len(grounds) + 2] for part in done.out.split("\n\n"))
    for table in (numbers, by_skill):
        assert max(map(len, table)) <= 120
        assert table[1].split()[:2] == ["mixer", "head"]
    assert by_skill[1].split()[2:] == list(found["even"])
    cells = [line.split()[2 + list(found["even"]).index("reference") + 1] for line in by_skill[2:]]
    assert cells == [f"{one:.3f}" for one in grounds]
