"""Translations and their scores, beside models that know the answer and beside everything that is allowed."""

from collections import Counter
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path
from typing import Any
from weakref import ref

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from tests.helpers import build, composed, learned, model_node
from tests.inference.runs import Given, words
from zoo.data.corpus import Corpus, load_corpus
from zoo.data.generated import END, Documents
from zoo.data.source import sources
from zoo.data.source.toy_translation import ToyTranslation
from zoo.data.tokenizer.bytes import Bytes
from zoo.data.toy.second import second
from zoo.data.toy.synonyms import allowed
from zoo.data.toy.translation import translate
from zoo.data.toy.words import ID, surface
from zoo.ffn import Auxiliary
from zoo.history import History
from zoo.inference.chrf import ChrF
from zoo.inference.complete import complete
from zoo.inference.translating import translations
from zoo.inference.translation_scores import fits, scored
from zoo.jobs.opened import Opened
from zoo.jobs.translated import Pairs, translated
from zoo.model import Model
from zoo.option import Option
from zoo.run import Run
from zoo.state import ModelState
from zoo.training.runtime import Machinery
from zoo.traits import Traits

DATA = Option("toy_translation", {"tokens": (4000, 2000, 2000), "lexicon": 24})
MACHINERY = Machinery("cpu", "float32", "plain", False, 1, torch.__version__)
SEQ2SEQ = {"objective": composed("objective=seq2seq")["objective"], "context": 64}
SENTENCES = (
    "about farms .",
    "the dog sees the tree .",
    "the big dogs see the table .",
    "the cat near the tree sleeps often .",
    "7 plus 5 is 12 .",
    "serve amy bread .",
)


class Dictionary(Model):
    """Looks each source up, and says what stands there, then the end mark. Of a row it sees nothing but its source."""

    def __init__(self, entries: Mapping[bytes, bytes], corpus: Corpus):
        nn.Module.__init__(self)
        self.tokenizer = corpus.tokenizer
        self.entries, self.vocabulary, self.limit = entries, corpus.tokenizer.vocabulary, None
        self.topology = type("Any", (), {"traits": Traits(generates=True)})()
        self.head = Given()  # type: ignore[assignment]

    def start(self, rows: int, capacity: int, back: int = 0) -> ModelState:
        self.answers: list[list[int]] = []
        return ModelState(History(rows, capacity, torch.device("cpu")), [], ref(self))

    def read(self, tokens: Tensor, padding: Tensor | None = None, **others: object) -> tuple[Tensor, Auxiliary]:
        if not self.answers:
            for row, real in zip(tokens, torch.ones_like(tokens) if padding is None else padding, strict=True):
                source = self.tokenizer.to_bytes(row[real.bool()][:-1])
                answer = self.tokenizer.encode(self.entries[source]).tolist()
                self.answers.append([*answer, self.tokenizer.special.end])
        says = torch.tensor([row.pop(0) if row else 0 for row in self.answers])
        return nn.functional.one_hot(says, self.vocabulary)[:, None].expand(-1, tokens.shape[1], -1).float(), {}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return load_corpus(DATA, Option("words"), str(tmp_path_factory.mktemp("cache")))


def held_out(corpus: Corpus) -> Pairs:
    """Pairs of test, none with the source of another one: of two references only one can be said."""
    pairs = Pairs.of(corpus, "test", 300, 64)
    once = {tuple(a.tolist()): (a, b) for a, b in zip(pairs.sources, pairs.targets, strict=True)}
    found, targets = zip(*once.values(), strict=True)
    return Pairs(found, targets, 0)


def looked_up(corpus: Corpus, says: Callable[[bytes, bytes], bytes]) -> dict[str, Any]:
    """The scores of a model that says `says(source, reference)`."""
    pairs = held_out(corpus)
    both = [[corpus.tokenizer.to_bytes(one) for one in side] for side in (pairs.sources, pairs.targets)]
    entries = {source: says(source, reference) for source, reference in zip(*both, strict=True)}
    run = Run(Dictionary(entries, corpus), corpus.tokenizer, SEQ2SEQ, 0)
    given = Opened(run, Path("a run"), MACHINERY)
    (found,) = translated(given, {"test": pairs}, sources.build(DATA), ChrF(), 16)["splits"]
    assert found["pairs"] == len(pairs.sources) > 100
    return dict(found)


def test_a_model_that_says_the_references_is_right_in_every_way(corpus: Corpus) -> None:
    found = looked_up(corpus, lambda source, reference: reference)
    assert (found["exact"], found["chrf"], found["synonyms"]["exact"]) == (1.0, 100.0, 1.0)


def test_a_model_that_says_the_frequent_synonym_gets_what_is_best_expected(corpus: Corpus) -> None:
    def frequent(source: bytes, reference: bytes) -> bytes:
        return b"".join(places[0] for places in allowed([source])[0])

    found = looked_up(corpus, frequent)
    rare = {int(form) for form in second().synonyms[second().synonyms != second().forms]}
    written = {second().surfaces[form] for form in rare}
    texts = [corpus.tokenizer.to_bytes(one) for one in held_out(corpus).targets]
    none = sum(
        not any(word + b" " in text or word + b"." in text or word + b"," in text for word in written) for text in texts
    )
    assert found["exact"] == found["synonyms"]["best"] == none / len(texts)
    assert 0.5 < none / len(texts) < 1.0
    assert found["synonyms"]["exact"] == 1.0
    assert found["chrf"] < 100.0


def test_a_wrong_model_is_wrong(corpus: Corpus) -> None:
    found = looked_up(corpus, lambda source, reference: reference[:-1])
    assert found["exact"] == found["synonyms"]["exact"] == 0.0
    assert 90 < found["chrf"] < 100
    assert [set(one) for one in found["examples"]] == [{"source", "reference", "translation"}] * 3
    assert all(one["translation"] + "." == one["reference"] for one in found["examples"])


def every_translation(sentence: str) -> set[bytes]:
    """Everything that comes out when each word's draw between synonyms falls either way."""
    said = np.array([ID[word] for word in sentence.split()] + [END])
    zeros = np.zeros(len(said))
    text = Documents(said, zeros.astype("f4"), zeros.astype("u1"), zeros.astype("i8"), np.array([0, len(said)]))
    found = set()
    for draws in product((0, 0xFFFFFFFF), repeat=len(said)):
        made = translate(text, np.array(draws, dtype=np.uint32))
        found.add(b"".join(second().surfaces[word] for word in made.words[made.offsets[1] :]))
    return found


@pytest.mark.parametrize("sentence", SENTENCES)
def test_what_is_allowed_is_every_translation_and_nothing_else(sentence: str) -> None:
    written = b"".join(surface(word) for word in sentence.split())
    (places,) = allowed([written])
    every = every_translation(sentence)
    assert {b"".join(one) for one in product(*places)} == every
    assert all(fits(one, places) for one in every)
    for right in every:
        parts = [word for choice in places for word in choice]
        wrong = {right + b" ", right[:-1], right[1:], b"", *(right.replace(word, b" x", 1) for word in parts)} - every
        wrong |= {right + word for word in parts} - every
        assert not any(fits(one, places) for one in wrong)
    assert len(every) == np.prod([len(choice) for choice in places])


def test_some_sentences_have_several_translations_and_one_of_many_is_found_by_its_place() -> None:
    counts = [len(every_translation(sentence)) for sentence in SENTENCES]
    assert max(counts) >= 4
    assert min(counts) == 1
    several = [b"".join(surface(word) for word in sentence.split()) for sentence in SENTENCES]
    assert allowed(several) == [allowed([one])[0] for one in several]


def test_a_text_fits_places_whose_words_begin_alike_whichever_way_it_is_cut() -> None:
    places = [(b"a", b"ab"), (b"b", b"bc"), (b"c",)]
    every = {b"".join(one) for one in product(*places)}
    texts = ["".join(one).encode() for length in range(7) for one in product("abc", repeat=length)]
    assert {text for text in texts if fits(text, places)} == every


def test_what_is_allowed_is_asked_of_the_source_of_pairs_alone(tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_text("one\tuno\n")
    assert sources.build(Option("pairs", {"path": str(tmp_path / "pairs.tsv")})).allowed([b"one"]) is None
    assert isinstance(sources.build(DATA), ToyTranslation)
    assert sources.build(DATA).allowed([b"about farms."]) == allowed([b"about farms."])


def naive_chrf(said: list[str], wanted: list[str]) -> float:
    """chrF of Popović 2015 with β = 2: the mean precision and recall of character n-grams up to 6, spaces left out."""
    precisions, recalls = [], []
    for n in range(1, 7):
        hits = ours = theirs = 0
        for pair in zip(said, wanted, strict=True):
            bare = [one.replace(" ", "") for one in pair]
            a, b = (Counter(one[i : i + n] for i in range(len(one) - n + 1)) for one in bare)
            hits, ours, theirs = hits + (a & b).total(), ours + a.total(), theirs + b.total()
        precisions.append(hits / ours)
        recalls.append(hits / theirs)
    p, r = sum(precisions) / 6, sum(recalls) / 6
    return 100 * 5 * p * r / (4 * p + r)


def test_chrf_is_that_of_the_paper_and_knows_which_side_is_the_reference() -> None:
    said, wanted = (
        ["il budano elu kanina", "ela bebona titanit too long"],
        ["il budano ela kanina doponit.", "ela titanit."],
    )
    chrf = ChrF()
    assert chrf.score(said, wanted) == pytest.approx(naive_chrf(said, wanted), abs=1e-9)
    assert abs(chrf.score(wanted, said) - chrf.score(said, wanted)) > 0.1
    assert f"version:{chrf.version}" in chrf.signature
    found = scored([b"a b"], [b"a b"], None, chrf)
    assert (found.exact, found.chrf, found.synonyms) == (1.0, 100.0, None)


def some(**changes: Any) -> Run:
    """An untrained run."""
    base = changes.pop("base", "modern")
    tokenizer = Bytes()
    return Run(build(model_node(base, **changes), vocabulary=tokenizer.vocabulary), tokenizer, SEQ2SEQ, 0)


MODELS: dict[str, dict[str, Any]] = {
    "encoder_decoder": {"base": "transformer_2017"},
    "prefix_lm": {"topology": "prefix_lm"},
    "decoder_only": {},
    "few positions": {"position": learned(20)},
}


@pytest.mark.unchecked
@pytest.mark.parametrize("name", MODELS)
def test_a_translation_does_not_depend_on_its_batch(name: str) -> None:
    run = some(**MODELS[name])
    generator = torch.Generator().manual_seed(0)
    lengths = [3, 9, 5, 5, 2, 17, 4, 9]
    texts = [torch.randint(32, 127, (length,), generator=generator) for length in lengths]
    done: list[int] = []
    alone = translations(run, texts, longest=10, batch_size=1, watch=done.append)
    assert done == list(range(1, 9))
    assert translations(run, texts, longest=10, batch_size=8) == alone
    assert translations(run, texts, longest=10, batch_size=3) == alone
    assert len(set(alone)) > 4
    for text, said in zip(texts, alone, strict=True):
        room = 10 if run.model.limit is None else min(10, 20 - len(text))
        assert complete(run, run.tokenizer.decode(text), max_new_tokens=room, temperature=0) == [
            said.decode("utf-8", "replace")
        ]
        assert len(run.tokenizer.encode(said)) <= room


class Knows(Model):
    """Finds the unknown word most probable, then a word, then the end."""

    def __init__(self, tokenizer: Any):
        nn.Module.__init__(self)
        self.vocabulary, self.limit, self.step = tokenizer.vocabulary, None, 0
        self.ranks = [[tokenizer.unknown, 2], [tokenizer.special.mask, 4], [tokenizer.special.end, 1]]
        self.topology = type("Any", (), {"traits": Traits(generates=True)})()
        self.head = Given()  # type: ignore[assignment]

    def start(self, rows: int, capacity: int, back: int = 0) -> ModelState:
        return ModelState(History(rows, capacity, torch.device("cpu")), [], ref(self))

    def read(self, tokens: Tensor, *masks: object, **others: object) -> tuple[Tensor, Auxiliary]:
        logits = torch.zeros(len(tokens), 1, self.vocabulary)
        first, then = self.ranks[min(self.step, 2)]
        logits[..., first], logits[..., then] = 2.0, 1.0
        self.step += 1
        return logits, {}


def test_what_is_no_word_is_never_said_and_nothing_follows_the_end() -> None:
    tokenizer = words()
    run = Run(Knows(tokenizer), tokenizer, SEQ2SEQ, 0)
    (said,) = translations(run, [torch.tensor([1, 2])], longest=9, batch_size=1)
    assert said == tokenizer.texts[2] + tokenizer.texts[4]
