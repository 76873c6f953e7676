"""Rows of whole documents, and the source of a task as a model that reads them."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Protocol

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from tests.data.toy import toy
from zoo.data.building.store import Split
from zoo.data.corpus import Corpus, load_corpus
from zoo.data.diagnostic import Diagnostic
from zoo.data.source import sources
from zoo.data.toy.oracle import Oracle
from zoo.data.whole import Whole
from zoo.errors import UserError
from zoo.objective.causal import Causal
from zoo.option import Option
from zoo.topology.decoder_only import DecoderOnly
from zoo.training.evaluate import Scores, evaluate
from zoo.training.feed import Feed

TASKS = [name for name in sources.names() if issubclass(sources.get(name), Diagnostic)]


def split(sizes: list[int]) -> Split:
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    notes = {key: np.arange(offsets[-1]).astype(np.float32) for key in ("floor", "skill", "distance", "width")}
    return Split("test", np.arange(offsets[-1], dtype="<u4"), offsets, 0, True, None, notes)


def rows(of: Whole) -> list[list[int]]:
    batch = of.evaluate(np.arange(of.evaluation))
    assert batch.real is not None
    return [row[real].tolist() for row, real in zip(batch.tokens, batch.real, strict=True)]


def test_rows_are_as_many_whole_documents_as_fit() -> None:
    of = Whole(split([3, 2, 4, 9, 5, 1, 1, 6, 7]), 7, 1, 6)
    assert rows(of) == [[0, 1, 2, 3, 4], [5, 6, 7, 8], list(range(18, 25)), list(range(25, 31)), list(range(31, 38))]
    assert of.dropped == 1
    assert of.tokens == 38 - 9
    batch = of.evaluate(np.array([0, 2]))
    assert batch.tokens.shape == (2, 7)
    assert batch.documents is not None
    assert batch.documents[1].tolist() == [4, 4, 4, 4, 4, 5, 6]
    assert batch.notes is not None
    assert batch.notes.floor[0].tolist() == [0, 1, 2, 3, 4, 0, 0]  # nothing is known of padding
    assert of.train(np.array([0]), np.zeros(1, np.uint64)).notes is None


def test_the_longest_row_takes_all_documents() -> None:
    sizes = [3, 2, 4, 9, 5]
    longest = Whole(split(sizes), 11, 1, 10).longest
    assert longest == sum(sizes) - 1
    assert len(rows(Whole(split(sizes), longest + 1, 1, longest))) == 1
    assert len(rows(Whole(split(sizes), longest, 1, longest - 1))) == 2
    assert Whole(split(sizes), 1 << 63, 1, (1 << 63) - 1).longest == longest


def test_every_document_that_fits_comes_once() -> None:
    sizes = np.random.default_rng(0).integers(1, 30, 500).tolist()
    of = Whole(split(sizes), 20, 1, 19)
    found = sorted(token for row in rows(of) for token in row)
    starts = np.cumsum([0, *sizes[:-1]])
    assert found == [
        t for start, size in zip(starts, sizes, strict=True) if size <= 20 for t in range(start, start + size)
    ]
    assert of.dropped == sum(size > 20 for size in sizes)


def test_documents_that_are_all_too_long_are_refused() -> None:
    with pytest.raises(UserError, match=r"no document .* the shortest has 8 tokens; set budget.context=8 or higher"):
        Whole(split([9, 8]), 7, 1, 6)


class Reads(Protocol):
    """The next-word distribution after the beginning of a document, by how each word is written."""

    def __call__(self, before: list[bytes]) -> Mapping[bytes, float]: ...


class Source(nn.Module):
    """A source behind the interface of a model."""

    def __init__(self, corpus: Corpus, reads: Reads):
        super().__init__()
        self.reads, self.corpus = reads, corpus
        self.texts = corpus.tokenizer.texts
        self.ids = {text: i for i, text in enumerate(self.texts)} | {b"": corpus.tokenizer.special.end}

    def forward(self, tokens: Tensor, documents: Tensor, padding: Tensor | None = None) -> Any:
        logits = torch.full((*tokens.shape, self.corpus.tokenizer.vocabulary), -math.inf, dtype=torch.float64)
        for b, row in enumerate(tokens.tolist()):
            before: list[bytes] = []
            for t, token in enumerate(row):
                if t == 0 or documents[b, t] != documents[b, t - 1]:
                    before = []
                ended = token == self.ids[b""] or (padding is not None and not padding[b, t])
                before.append(b"" if ended else self.texts[token])
                for text, nats in ({b"": 0.0} if ended else self.reads(before)).items():
                    logits[b, t, self.ids[text]] = -nats
        return SimpleNamespace(logits=logits)


def score(corpus: Corpus, reads: Reads, context: int) -> Scores:
    feed = Feed(corpus, Causal(), DecoderOnly.traits, batch_size=8, context=context, splits=["test"])
    lengths = torch.from_numpy(corpus.tokenizer.byte_lengths)
    cpu = torch.device("cpu")
    return evaluate(
        Source(corpus, reads), feed.evaluation("test"), lengths, device=cpu, skills=corpus.skills, lines=corpus.lines
    )


@pytest.mark.parametrize("name", TASKS)
def test_the_source_of_a_task_scores_exactly_the_floor_and_every_answer_right(name: str, tmp_path: Path) -> None:
    option = Option(name, {"tokens": (300, 0, 900)})
    corpus = load_corpus(option, Option("words"), str(tmp_path))
    source = sources.build(option)
    assert isinstance(source, Diagnostic)
    number = {text: i for i, text in enumerate(source.surfaces)}

    def reads(before: list[bytes]) -> dict[bytes, float]:
        found: Mapping[int, Fraction] = source.next([number[text] for text in before], "test")
        return {source.surfaces[word]: -math.log(p) for word, p in found.items()}

    scores = score(corpus, reads, 128)
    assert scores.floor is not None
    assert scores.loss == pytest.approx(scores.floor, rel=1e-6)
    answer = scores.skills["answer"]
    if answer.determined:
        assert answer.determined_accuracy == 1.0
        assert answer.determined_loss == 0.0
        assert set(answer.determined_by_distance.values()) == {1.0}
    assert answer.lines == {
        key: {"accuracy": one.accuracy, "nats": one.nats} for key, one in source.lines()["answer"].items()
    }
    assert scores.as_dict()["skills"]["answer"]["lines"]["chance"]["accuracy"] < 0.6


def test_the_source_of_the_toy_language_scores_exactly_the_floor(tmp_path: Path) -> None:
    keys: dict[str, Any] = {"lexicon": 8, "sentences": 8.0, "tokens": (2000, 0, 1500)}
    corpus = load_corpus(Option("toy", keys), Option("words"), str(tmp_path))
    oracle = Oracle(toy(**keys))

    def reads(before: Sequence[bytes]) -> dict[bytes, float]:
        if len(before) == 1:
            oracle.restart()
        oracle.read(before[-1].decode().strip())
        written = {word: word if word in (".", ",", ":", "about", "") else f" {word}" for word in oracle.next()}
        return {written[word].encode(): one.nats for word, one in oracle.next().items()}

    scores = score(corpus, reads, len(corpus.split("test").tokens) - 1)
    assert scores.loss == pytest.approx(scores.floor, rel=1e-6)
    for skill in scores.skills.values():
        assert skill.loss == pytest.approx(skill.floor, rel=1e-6)
        assert skill.determined_accuracy in (None, 1.0)
    assert scores.skills["recall"].lines["chance"] == {"accuracy": 1 / 8, "nats": math.log(8)}
