"""The toy language as a corpus: cached, in any tokenizer, with its floor beside every token."""

import json
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.data.corpora import text_of
from tests.data.toy import toy
from zoo.data.batch import TextBatch
from zoo.data.batches import Loader
from zoo.data.building import cache, making
from zoo.data.building.encoding import Encoding
from zoo.data.building.tokens import Tokens
from zoo.data.corpus import Corpus, load_corpus
from zoo.data.floor import floor_of_source, floor_of_split
from zoo.data.generated import END, Documents, Generated
from zoo.data.source import sources
from zoo.data.tokenizer import tokenizers
from zoo.data.toy.oracle import Oracle
from zoo.data.toy.words import SURFACES
from zoo.errors import UserError
from zoo.option import Option

pytestmark = pytest.mark.unchecked  # thousands of calls that test_toy_generator.py checks

SMALL: dict[str, Any] = {"lexicon": 8, "sentences": 8.0, "tokens": (6_000, 1_500, 1_500)}
NAMES = tokenizers.names()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def load(folder: Path, tokenizer: str, **keys: Any) -> Corpus:
    return load_corpus(Option("toy", {**SMALL, **keys}), Option(tokenizer), str(folder))


@pytest.mark.parametrize("name", NAMES)
def test_the_text_is_that_of_the_documents_and_nothing_is_unknown(folder: Path, name: str) -> None:
    corpus, source = load(folder, name), toy(**SMALL)
    for split in ("train", "validation", "test"):
        assert text_of(corpus, split) == b"".join(source.pieces(split))
        found = corpus.split(split)
        ids = found.tokens.astype(np.int64)
        assert corpus.tokenizer.byte_lengths[ids].sum() == found.bytes  # end marks have no bytes
        assert found.bytes_unknown is None
        assert (ids == corpus.tokenizer.special.end).sum() == len(found.offsets) - 1
        assert (ids[found.offsets[1:] - 1] == corpus.tokenizer.special.end).all()


@pytest.mark.parametrize("name", NAMES)
def test_the_notes_stand_beside_the_tokens_of_their_word(folder: Path, name: str) -> None:
    corpus = load(folder, name)
    split, tokenizer = corpus.split("validation"), corpus.tokenizer
    notes = split.notes
    assert notes is not None
    documents = [one for part in toy(**SMALL).made("validation") for one in part.parts(1)]
    assert len(documents) == len(split.offsets) - 1
    for document, a, b in zip(documents, split.offsets, split.offsets[1:], strict=False):
        token = int(a)
        for word, floor, skill, distance in zip(
            document.words, document.floor, document.skill, document.distance, strict=True
        ):
            left, first = SURFACES[word], True
            while left or (word == END and first):
                written = tokenizer.to_bytes([split.tokens[token]])
                assert left.startswith(written)
                assert notes["floor"][token] == pytest.approx(floor if first else 0.0)
                assert (notes["skill"][token], notes["distance"][token]) == (skill, distance)
                left, first, token = left[len(written) :], False, token + 1
        assert token == b


def test_a_token_that_begins_several_words_is_charged_for_all_of_them() -> None:
    class Halves(type(tokenizers.build(Option("bytes")))):  # type: ignore[misc]
        """Two bytes a token, wherever words begin."""

        @property
        def texts(self) -> list[bytes]:
            return [bytes([a, b]) for a in range(128) for b in range(128)]

        def encode(self, data: bytes) -> Any:
            return np.array([data[i] * 128 + data[i + 1] for i in range(0, len(data), 2)], dtype=np.int64)

        def ends_between(self, left: str, right: str) -> bool:
            return False

    source = toy(**SMALL)
    document = next(one for part in source.made("train") for one in part.parts(1) if len(source.text(one)) % 2 == 0)
    tokens = Tokens(document, Encoding(source, Halves()))
    assert len(tokens.ids) == len(source.text(document)) // 2 + 1
    assert tokens.notes()["floor"].sum(dtype=np.float64) == pytest.approx(
        document.floor.sum(dtype=np.float64), rel=1e-6
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("data", ["toy", "toy_translation", "toy_roles", "sort", "memorisation"])
def test_words_that_are_looked_up_are_those_of_the_encoded_text(folder: Path, data: str, name: str) -> None:
    source = sources.build(Option(data, {"tokens": (4000, 0, 0)}))
    assert isinstance(source, Generated)
    tokenizer = load_corpus(Option(data, {"tokens": (4000, 0, 0)}), Option(name), str(folder)).tokenizer
    encoding = Encoding(source, tokenizer)
    for documents in source.made("train"):
        assert np.array_equal(encoding.ids(documents), tokenizer.encode(source.text(documents)))


@pytest.mark.parametrize("name", ["bytes", "chars", "words"])
def test_each_word_of_the_language_is_encoded_once(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    encoding, documents = Encoding(toy(), load(folder, name).tokenizer), next(toy(**SMALL).made("test"))
    first = encoding.ids(documents)
    monkeypatch.setattr(encoding.tokenizer, "encode", lambda _: pytest.fail("encoded again"))
    assert np.array_equal(encoding.ids(documents), first)


def test_words_that_run_together_are_encoded_as_one(folder: Path) -> None:
    source, tokenizer = toy(**SMALL), load(folder, "words").tokenizer
    there = [i for i in range(1, len(SURFACES)) if len(tokenizer.encode(SURFACES[i])) == 1]
    dog, about = (next(i for i in there if SURFACES[i] == text) for text in (b" dog", b"about"))
    words = np.array([about, dog, about, END])
    nothing = (np.zeros(4, np.float32), np.zeros(4, np.uint8), np.zeros(4, np.int64))
    ids = Encoding(source, tokenizer).ids(Documents(words, *nothing, np.array([0, 4])))
    assert ids.tolist() == [*tokenizer.encode(b"about"), tokenizer.unknown]  # type: ignore[attr-defined]


def test_the_floor_is_the_same_whatever_the_tokenizer(folder: Path) -> None:
    source = toy(**SMALL)
    words = floor_of_source(source, "validation")
    for name in NAMES:
        corpus = load(folder, name)
        found = floor_of_split(corpus.split("validation"), corpus.tokenizer, source.skills)
        assert found.nats * found.tokens == pytest.approx(words.nats * words.tokens, rel=1e-6)
        assert found.bits_per_byte == pytest.approx(words.bits_per_byte, rel=1e-6)
        assert found.bytes == words.bytes
        for skill, part in words.skills.items():
            assert found.skills[skill].nats * found.skills[skill].tokens == pytest.approx(part.nats * part.tokens)
        assert sum(one.tokens for by in found.distances.values() for one in by.values()) == found.tokens
    assert load(folder, "words").split("validation").tokens.size == words.tokens
    assert json.loads(json.dumps(words.as_dict()))["skills"]["copying"]["nats"] == 0


def test_training_has_no_notes_and_evaluation_has_them_cut_and_padded_like_the_tokens(folder: Path) -> None:
    corpus = load(folder, "words")
    assert corpus.split("train").notes is None
    loader = Loader(corpus, "validation", 65, 1, 4, 64)
    split = corpus.split("validation")
    assert split.notes is not None
    train = loader.train_batch(0, 0)
    assert isinstance(train, TextBatch)
    assert train.notes is None
    floor = torch.from_numpy(np.array(split.notes["floor"]))
    batches = list(loader.evaluation())
    for i, batch in enumerate(batches):
        assert isinstance(batch, TextBatch)
        assert batch.notes is not None
        assert batch.notes.floor.shape == batch.notes.skill.shape == batch.notes.distance.shape == batch.tokens.shape
        there = floor[i * 4 * 64 :][:65]
        assert torch.equal(batch.notes.floor[0][: len(there)], there)
    last = batches[-1]
    assert isinstance(last, TextBatch)
    assert last.real is not None
    assert last.notes is not None
    assert not last.notes.floor[~last.real].any()
    assert not last.notes.skill[~last.real].any()


def source_logits(oracle: Oracle, tokens: torch.Tensor, documents: torch.Tensor, corpus: Corpus) -> torch.Tensor:
    """The true source as a model of one row: log probabilities of the next token at each position."""
    texts = [text.decode().strip() for text in corpus.tokenizer.texts]
    ids = {word: i for i, word in enumerate(texts[:-1])} | {"": corpus.tokenizer.special.end}
    logits = torch.full((len(tokens), corpus.tokenizer.vocabulary), -math.inf, dtype=torch.float64)
    for t, token in enumerate(tokens.tolist()):
        if t == 0 or documents[t] != documents[t - 1]:
            oracle.restart()
        oracle.read(texts[token] if token < len(texts) else "")
        for word, one in oracle.next().items():
            logits[t, ids[word]] = -one.nats
    return logits


def test_the_source_itself_scores_exactly_the_floor(folder: Path) -> None:
    corpus = load(folder, "words")
    size = len(corpus.split("test").tokens)
    (batch,) = Loader(corpus, "test", size, 0, 1, size).evaluation()  # whole documents
    assert isinstance(batch, TextBatch)
    assert batch.documents is not None
    assert batch.notes is not None
    tokens, documents, floor = batch.tokens[0], batch.documents[0], batch.notes.floor[0]
    logits = source_logits(Oracle(toy(**SMALL)), tokens[:-1], documents[:-1], corpus)
    scored = documents[1:] == documents[:-1]  # no document predicts the first word of the next
    nats = torch.nn.functional.cross_entropy(logits, tokens[1:], reduction="none")
    assert torch.allclose(nats[scored], floor[1:][scored].double(), rtol=1e-6, atol=1e-6)
    assert (nats[scored] == 0).equal(floor[1:][scored] == 0)
    assert not floor[:1].any()
    assert not floor[1:][~scored].any()  # what is not scored is certain
    assert (logits.argmax(-1) == tokens[1:])[scored][nats[scored] == 0].all()


def test_a_generated_corpus_is_made_once_and_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = load(tmp_path, "words")
    monkeypatch.setattr(cache, "build", lambda *_: pytest.fail("made again"))
    again = load(tmp_path, "words")
    assert again.fingerprint == first.fingerprint
    assert again.summary == first.summary
    assert np.array_equal(again.split("train").tokens, first.split("train").tokens)


def test_another_setting_seed_size_or_tokenizer_is_another_corpus(tmp_path: Path) -> None:
    few: dict[str, Any] = {"tokens": (300, 300, 0)}
    made = [
        load(tmp_path, "bytes", **few),
        load(tmp_path, "bytes", **few, seed=1),
        load(tmp_path, "bytes", **few, nesting=0.0),
        load(tmp_path, "bytes", tokens=(300, 301, 0)),
        load(tmp_path, "words", **few),
    ]
    assert len({one.fingerprint for one in made}) == len(made)


def test_damaged_notes_are_made_again(tmp_path: Path) -> None:
    first = load(tmp_path, "words")
    file = next(tmp_path.glob("*/validation.floor"))
    whole = file.read_bytes()
    file.write_bytes(whole[:-4])
    assert load(tmp_path, "words").fingerprint == first.fingerprint
    assert file.read_bytes() == whole


def test_no_document_of_a_held_out_split_is_in_train_and_the_summary_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = load(tmp_path, "bytes", tokens=(200_000, 5_000, 5_000))
    for name in ("validation", "test"):
        found = corpus.summary["overlap"][name]
        assert found == {"documents": len(corpus.split(name).offsets) - 1, "in_train": 0, "share": 0.0}
    monkeypatch.setattr(making, "COMPARED", 13)  # as if memory held no more documents
    short = load(tmp_path, "bytes", shortest=0, sentences=1.0, lexicon=1, tokens=(20_000, 500, 0))
    train = {bytes(short.split("train").tokens[a : b - 1].tolist()) for a, b in _documents(short, "train")}
    held_out = [bytes(short.split("validation").tokens[a : b - 1].tolist()) for a, b in _documents(short, "validation")]
    assert short.summary["overlap"]["validation"]["in_train"] == sum(one in train for one in held_out) > 0


def _documents(corpus: Corpus, split: str) -> list[tuple[int, int]]:
    return list(pairwise(corpus.split(split).offsets.tolist()))


def test_a_split_of_size_0_is_not_there(tmp_path: Path) -> None:
    corpus = load(tmp_path, "bytes", tokens=(300, 0, 0))
    with pytest.raises(UserError, match=r"no test split; give it a share in data\.tokens=\[300, 0, 0\]"):
        corpus.split("test")
    assert list(corpus.splits) == ["train"]


def test_a_corpus_of_one_token_has_one_document(tmp_path: Path) -> None:
    corpus = load(tmp_path, "words", tokens=(1, 1, 1))
    assert [len(corpus.split(name).offsets) for name in ("train", "validation", "test")] == [2, 2, 2]


def test_a_vocabulary_too_small_for_the_language_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"does not know '\w+', .* set tokenizer\.vocabulary higher \(\d+ is enough\)"):
        load_corpus(Option("toy", {**SMALL}), Option("words", {"vocabulary": 100}), str(tmp_path))
    assert not list(tmp_path.glob("*.part"))


def test_the_floor_of_other_corpora_and_splits_is_not_known(folder: Path) -> None:
    corpus = load(folder, "words")
    with pytest.raises(UserError, match="not stored"):
        floor_of_split(corpus.split("train"), corpus.tokenizer, toy().skills)


def test_the_floor_of_a_known_case() -> None:
    """No lexicon and one kind of sentence: what is drawn is a topic, a length, and letters."""
    source = toy(
        recall=0.0, copying=1.0, facts=0.0, arithmetic=0.0, letters=1, sentences=1.0, shortest=0, tokens=(0, 80, 0)
    )
    found = floor_of_source(source, "validation")
    assert found.nats * found.tokens == pytest.approx((math.log(8) + math.log(26)) * found.tokens / 9)
    assert found.skills["copying"].determined == found.skills["copying"].tokens
