"""What is determined is a word, whatever its tokens are, so that chance lines mean the same for every tokenizer."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from tests.data.toy import toy
from zoo.command.compose import compose
from zoo.config import plain
from zoo.data.batches import Loader
from zoo.data.corpus import Corpus, load_corpus
from zoo.data.floor import floor_of_source, floor_of_split
from zoo.data.tokenizer import tokenizers
from zoo.data.toy.skills import Skill
from zoo.objective import Task
from zoo.objective.causal import Causal
from zoo.option import Option
from zoo.training.evaluate import Scores, evaluate
from zoo.traits import Traits

pytestmark = pytest.mark.unchecked  # thousands of calls that test_toy_generator.py checks

SMALL: dict[str, Any] = {"lexicon": 8, "sentences": 8.0, "tokens": (6_000, 1_500, 1_500)}
NAMES = tokenizers.names()


class Certain(nn.Module):
    """Sure of every target, but for those that `wrong` names."""

    def __init__(self, task: Task, vocabulary: int, wrong: Tensor):
        super().__init__()
        self.logits = torch.full((*task.targets.shape, vocabulary), -99.0, dtype=torch.float64)
        self.logits.scatter_(2, torch.where(wrong, (task.targets + 1) % vocabulary, task.targets)[..., None], 99.0)

    def forward(self, **_: Any) -> SimpleNamespace:
        return SimpleNamespace(logits=self.logits)


def asked(corpus: Corpus, context: int) -> Task:
    """All of test, in rows of that many tokens."""
    (batch,) = Loader(corpus, "test", context + 1, 1, 10**6, context).evaluation()
    return Causal().prepare(batch, corpus.tokenizer.special, Traits(generates=True), lambda *_: torch.empty(0))


def score(corpus: Corpus, task: Task, wrong: Tensor) -> Scores:
    lengths = torch.from_numpy(corpus.tokenizer.byte_lengths)
    model = Certain(task, corpus.tokenizer.vocabulary, wrong)
    return evaluate(model, [task], lengths, device=torch.device("cpu"), skills=corpus.skills)


@pytest.fixture(scope="module", params=NAMES)
def corpus(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    few = ["tokenizer.vocabulary=300"] if request.param == "bpe" else []  # so that words have several tokens
    node = plain(compose([f"tokenizer={request.param}", *few]))["tokenizer"]
    option = Option(node.pop("name"), node)
    return load_corpus(Option("toy", SMALL), option, str(tmp_path_factory.mktemp("cache")))


def test_words_are_determined_in_every_tokenizer_as_in_the_language(corpus: Corpus) -> None:
    documents = [part for made in toy(**SMALL).made("test") for part in made.parts(1)]
    task = asked(corpus, len(corpus.split("test").tokens) - 1)
    found = score(corpus, task, torch.zeros_like(task.targets, dtype=torch.bool)).skills
    for skill in Skill:
        chosen = [one.floor[1:][one.skill[1:] == skill] for one in documents]  # no document predicts its first word
        nats = np.concatenate(chosen)
        one = found[skill.name.lower()]
        assert (one.words, one.determined) == (len(nats), int((nats == 0).sum()))
        assert one.word_accuracy == 1
        assert one.determined_accuracy in (1, None)
        assert one.word_loss == pytest.approx(0, abs=1e-6)


def test_a_word_is_right_where_all_its_tokens_are_and_costs_what_they_cost_together(corpus: Corpus) -> None:
    split = corpus.split("test")
    task = asked(corpus, len(split.tokens) - 1)
    assert task.notes is not None
    recalled = task.notes.skill == Skill.RECALL
    last = recalled & torch.cat([task.notes.width[:, 1:] > 0, torch.ones(1, 1, dtype=torch.bool)], 1)
    found = score(corpus, task, last).skills["recall"]
    assert found.determined == found.words == int(last.sum())
    assert found.determined_accuracy == 0
    assert found.accuracy == pytest.approx(1 - found.words / found.tokens)
    assert found.determined_loss == pytest.approx(198)  # one wrong token a word
    assert set(found.determined_by_distance.values()) == {0}
    starts = recalled & (task.notes.width > 0)
    counted = found.determined_words_by_distance
    assert counted == {far: n for far, n in found.words_by_distance.items() if n}
    assert sum(counted.values()) == int(starts.sum())
    for far, n in counted.items():
        least = int(far.partition("–")[0])
        assert n == int((starts & (task.notes.distance >= least) & (task.notes.distance < 2 * least)).sum())


def test_words_that_a_row_cuts_are_not_counted(corpus: Corpus) -> None:
    rows = [asked(corpus, context) for context in (16, len(corpus.split("test").tokens) - 1)]
    cut, whole = (score(corpus, one, torch.zeros_like(one.targets, dtype=torch.bool)) for one in rows)
    assert cut.tokens == whole.tokens
    lost = sum(whole.skills[skill].words - one.words for skill, one in cut.skills.items())
    assert 0 < lost < len(rows[0].targets) or (lost == 0 and corpus.tokenizer.whole_words)


def test_the_floor_made_anew_is_that_of_the_stored_tokens(corpus: Corpus) -> None:
    source = toy(**SMALL)
    again = floor_of_source(source, "validation", corpus.tokenizer)
    assert again == floor_of_split(corpus.split("validation"), corpus.tokenizer, source.skills)
    words = floor_of_source(source, "validation")
    assert (again.words, again.determined) == (words.words, words.determined)
    for skill, part in words.skills.items():
        assert (again.skills[skill].words, again.skills[skill].determined) == (part.words, part.determined)
    assert words.tokens == words.words
