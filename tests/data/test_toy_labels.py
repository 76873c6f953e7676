"""The labelled views of the toy language: what is asked is in the text, and the floor is that of a reader of it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.data.toy import made
from zoo.data.batch import PairBatch
from zoo.data.batches import Loader
from zoo.data.corpus import load_corpus
from zoo.data.generated import END, Documents
from zoo.data.special import Special
from zoo.data.told import told
from zoo.data.toy import words
from zoo.data.toy.labels import ANSWER, ASK, LABELLED, OTHER, posteriors, with_roles, with_spans, with_topics
from zoo.data.toy.oracle import Oracle
from zoo.data.toy.settings import Settings
from zoo.data.toy.views import roles
from zoo.data.toy.words import ALL
from zoo.errors import UserError
from zoo.objective.tagging import Tagging
from zoo.option import Option
from zoo.traits import Traits

KEYS: dict[str, Any] = {"lexicon": 8, "sentences": 4.0, "shortest": 20, "recall": 0.5}
BOTH_SIDES, LEFT_TO_RIGHT = Traits(generates=False), Traits(generates=True)


def pairs(documents: Documents) -> Iterator[tuple[list[int], list[int], np.ndarray]]:
    parts = list(documents.parts(1))
    for source, target in zip(parts[::2], parts[1::2], strict=True):
        yield source.words.tolist()[:-1], target.words.tolist()[:-1], target.floor
        assert source.words[-1] == target.words[-1] == END


def test_no_word_is_written_twice() -> None:
    assert len(set(LABELLED)) == len(LABELLED)


def test_each_word_is_tagged_with_its_role() -> None:
    documents = made(20, **KEYS)
    expected = roles(documents)[documents.words != END]
    tags = [tag for source, target, _ in pairs(with_roles(documents)) for tag in target if len(source) == len(target)]
    assert np.array_equal(np.array(tags) - OTHER, expected)
    assert b"".join(LABELLED[tag] for tag in tags[:9]).count(b"OTHER") > 3
    said = [word for source, _, _ in pairs(with_roles(documents)) for word in source]
    assert said == documents.words[documents.words != END].tolist()


def test_a_question_is_answered_where_it_was_said_first() -> None:
    documents = made(40, **KEYS)
    found = list(pairs(with_spans(documents, np.arange(len(documents.words), dtype=np.uint32))))
    assert len(found) > 20
    for source, target, _ in found:
        assert len(source) == len(target)
        relation, name, mark = source[:3]
        assert mark == ASK
        text = source[3:]
        first = next(i for i in range(len(text)) if text[i : i + 2] == [relation, name])
        assert [i for i, tag in enumerate(target) if tag == ANSWER] == [3 + first + 2]
        assert ALL[text[first + 2]] in words.RELATIONS[ALL[relation]]


@pytest.mark.unchecked
def test_the_floor_of_a_topic_is_that_of_a_reader_who_knows_the_language() -> None:
    """Bayes' rule with the oracle: the title tried with each topic."""
    settings, documents = Settings(**KEYS), made(12, **KEYS)
    oracle, posterior = Oracle(settings), posteriors(documents, settings)
    for d, (source, target, floor) in enumerate(pairs(with_topics(documents, settings))):
        text = [ALL[word] for word in source[:-1]]
        nats = []
        for topic in words.TOPICS:
            oracle.restart()
            nats.append(sum(oracle.read(word).nats for word in ["about", topic, ".", *text, ""]))
        likely = np.exp(-np.array(nats) + min(nats))
        assert posterior[d] == pytest.approx(likely / likely.sum(), rel=1e-5)
        assert floor[0] == pytest.approx(-np.log(posterior[d][words.TOPICS.index(ALL[target[0]])]), rel=1e-5)
        assert source[-1] == ASK
        assert "about" not in text


def batch(sources: list[list[int]], targets: list[list[int]]) -> PairBatch:
    def padded(rows: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        width = max(map(len, rows))
        real = torch.tensor([[i < len(row) for i in range(width)] for row in rows])
        return torch.tensor([row + [0] * (width - len(row)) for row in rows]), real

    return PairBatch(*padded(sources), *padded(targets))


def prepare(asked: PairBatch, traits: Traits) -> Any:
    return Tagging().prepare(asked, Special.after(99), traits, lambda length, each: torch.empty(0))


def test_labels_stand_at_the_last_tokens_of_their_text() -> None:
    task = prepare(batch([[1, 2, 3, 4], [5, 6]], [[7], [8, 9]]), BOTH_SIDES)
    assert task.weights.tolist() == [[0, 0, 0, 1], [1, 1, 0, 0]]
    assert task.targets[task.weights > 0].tolist() == [7, 8, 9]
    assert task.inputs["tokens"].tolist() == [[1, 2, 3, 4], [5, 6, 0, 0]]
    prefix = prepare(batch([[1, 2], [3]], [[4], [5]]), Traits(generates=True, takes_prefix=True))
    assert torch.equal(prefix.inputs["prefix"], prefix.inputs["padding"])
    assert not Tagging.serves(Traits(generates=True, reads_source=True))


def test_more_labels_than_tokens_are_refused() -> None:
    with pytest.raises(UserError, match=r"a source of 2 tokens has 3 labels; .* use tokenizer=words"):
        prepare(batch([[1, 2]], [[4, 5, 6]]), BOTH_SIDES)


@pytest.mark.parametrize("name", ["toy_roles", "toy_spans", "toy_topic"])
def test_a_corpus_of_labels_keeps_its_floor_through_batch_and_objective(name: str, tmp_path: Path) -> None:
    corpus = load_corpus(Option(name, {"tokens": (800, 1500, 0), "lexicon": 8}), Option("words"), str(tmp_path))
    loader = Loader(corpus, "validation", 1024, 0, 8, 1024)
    floor = scored = 0.0
    for one in loader.evaluation():
        for traits in (BOTH_SIDES, LEFT_TO_RIGHT):
            task = prepare(one, traits)  # type: ignore[arg-type]
            assert task.notes is not None
            assert (task.notes.floor[task.weights == 0] == 0).all()
        floor, scored = floor + float(task.notes.floor.sum()), scored + float(task.weights.sum())
    split = corpus.split("validation")
    assert split.notes is not None
    assert floor == pytest.approx(split.notes["floor"].sum(dtype=np.float64), rel=1e-5)
    assert scored == np.diff(split.offsets)[1::2].sum()


@pytest.mark.unchecked
def test_labels_that_stand_in_train_are_no_text_that_does(tmp_path: Path) -> None:
    """Half of the documents of pairs are labels, and there are eight topics."""
    for name in ("toy_topic", "toy_roles", "toy_translation"):
        summary = load_corpus(Option(name, {"tokens": (9000, 900, 900)}), Option("words"), str(tmp_path)).summary
        pairs = summary["splits"]["test"]["documents"] // 2
        assert summary["overlap"]["test"] == {"sources": pairs, "in_train": 0, "share": 0.0}
        assert told(summary).endswith("nothing held out was found in train")
    tiny: dict[str, Any] = {"tokens": (900, 90, 0), "lexicon": 1, "sentences": 1.0, "shortest": 0, "relations": 1}
    short = load_corpus(Option("toy_roles", tiny), Option("words"), str(tmp_path)).summary
    assert 0 < short["overlap"]["validation"]["in_train"] < short["overlap"]["validation"]["sources"]
    assert "validation sources (" in told(short)


def test_a_split_in_which_nothing_can_be_asked_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"data\.recall=0 leaves nothing to ask"):
        load_corpus(Option("toy_spans", {"recall": 0.0}), Option("words"), str(tmp_path))
    rare: dict[str, Any] = {"recall": 0.001, "tokens": (40, 40, 0)}
    with pytest.raises(UserError, match=r"nothing can be made for train in 40 words .* data\.tokens higher, or to 0"):
        load_corpus(Option("toy_spans", rare), Option("bytes"), str(tmp_path))
    assert not list(tmp_path.glob("*.part"))
