"""The toy language translated: in order, in agreement, and with every probability known."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.data.toy import toy
from zoo.data.batch import PairBatch
from zoo.data.batches import Loader
from zoo.data.corpus import Corpus, load_corpus
from zoo.data.floor import floor_of_source, floor_of_split
from zoo.data.generated import END, Documents
from zoo.data.source import sources
from zoo.data.source.toy_translation import ToyTranslation
from zoo.data.split import SPLITS
from zoo.data.toy import words
from zoo.data.toy.generator import VERSION
from zoo.data.toy.held_out import of_split
from zoo.data.toy.second import ACCUSATIVE, second
from zoo.data.toy.translation import translate
from zoo.data.toy.words import ID
from zoo.errors import UserError
from zoo.option import Option

pytestmark = pytest.mark.unchecked  # thousands of calls that test_toy_generator.py checks

SETTINGS: dict[str, Any] = {"nesting": 0.4, "reference": 0.7, "tokens": (20_000, 8_000, 0)}
NEVER, ALWAYS = np.uint32(0xFFFFFFFF), np.uint32(0)


def source(**keys: Any) -> ToyTranslation:
    made = sources.build(Option("toy_translation", {**SETTINGS, **keys}))
    assert isinstance(made, ToyTranslation)
    return made


def pairs(documents: Documents) -> list[tuple[list[int], list[int]]]:
    sides = [one.words[:-1].tolist() for one in documents.parts(1)]
    return list(zip(sides[::2], sides[1::2], strict=True))


def translated(sentence: str, draw: np.uint32 = NEVER) -> str:
    said = np.array([ID[word] for word in sentence.split()] + [END], dtype=np.int64)
    zeros = np.zeros(len(said))
    one = Documents(
        said, zeros.astype(np.float32), zeros.astype(np.uint8), zeros.astype(np.int64), np.array([0, len(said)])
    )
    (pair,) = pairs(translate(one, np.full(len(said), draw, dtype=np.uint32)))
    return b"".join(second().surfaces[word] for word in pair[1]).decode().strip()


@pytest.mark.parametrize(
    ("sentence", "translation"),
    [
        ("the dog sees the tree .", "il {dog}o elu {tree}a {see}it."),
        ("the dogs see the big trees .", "ili {dog}os elus {tree}as {big}eas {see}int."),
        ("the big dog near the tree sleeps often .", "il {dog}o {big}e ela {tree}a {near}u {often}u {sleep}it."),
        ("the dog that the cats see sleeps .", "il {dog}o ke elan {cat}as {see}int {sleep}it."),
        (
            "the cat sees the tree because it is hungry , so the cat waits .",
            "ela {cat}a elu {tree}a {see}it char hoa {hungry}ea esu, do ela {cat}a {wait}it.",
        ),
        ("the dogs see the tree because they are kind .", "ili {dog}os elu {tree}a {see}int char hoi {kind}es esun."),
        ("colour amy red .", "amy {red}u {colour}u."),
        ("spell k f : k f .", "liter k f: k f."),
        ("in norland lies ashton .", "eni norland ashton situ."),
        ("7 plus 5 is 12 .", "7 5 plusu esu 12."),
        ("about farms .", "{farms}u pri."),
    ],
)
def test_sentences_are_translated_word_by_word_in_another_order(sentence: str, translation: str) -> None:
    found = translated(sentence)
    for word in ("dog", "cat", "tree"):
        assert f"{{{word}}}s" not in translation
    stems = {}
    for word in {part.split("}")[0] for part in translation.split("{")[1:]}:
        form = second().surfaces[second().forms[ID.get(f"{word}s" if word in ("see", "wait", "sleep") else word, 0), 0]]
        stems[word] = form.decode().strip()[:5]
    assert found == translation.format(**stems)


def test_the_gender_of_nouns_cannot_be_seen_in_the_first_language() -> None:
    genders = second().agreement[[ID[noun] for noun in [*words.CREATURES, *words.THINGS]]] % 2
    assert 0.4 < genders.mean() < 0.6


def test_a_translation_can_be_undone_so_no_two_words_are_alike() -> None:
    language = second()
    known = [ID[word] for word in words.ALL if word not in ("", "it", "they")]
    owners: dict[int, set[int]] = {}
    for word in known:
        for form in {*language.forms[word].tolist(), *language.synonyms[word].tolist()}:
            owners.setdefault(form, set()).add(word)
    assert all(len(owner) == 1 for owner in owners.values())
    assert END not in owners
    assert len(set(language.surfaces)) == len(language.surfaces)


def test_the_floor_of_a_target_is_that_of_its_synonyms() -> None:
    made = next(source().made("train"))
    language = second()
    two = {
        int(form): rare
        for rare, table in enumerate((language.forms, language.synonyms))
        for form in table[(language.forms != language.synonyms).any(1)].reshape(-1)
    }
    drawn = np.zeros(2)
    for target in list(made.parts(1))[1::2]:
        for word, floor in zip(target.words.tolist(), target.floor, strict=True):
            if word in two:
                drawn[two[word]] += 1
                assert floor == pytest.approx(-np.log([0.75, 0.25][two[word]]), rel=1e-6)
            else:
                assert floor == 0
    assert abs(drawn[1] - drawn.sum() / 4) < 4 * np.sqrt(drawn.sum() * 3 / 16)
    assert drawn.sum() > 500


def test_a_sentence_and_the_synonyms_drawn_decide_the_translation() -> None:
    assert translated("the dog sees the tree .") != translated("the dog sees the tree .", ALWAYS)
    by_source: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
    for said, target in pairs(next(source(lexicon=2, reference=0.0).made("train"))):
        by_source.setdefault(tuple(said), set()).add(tuple(target))
    repeated = [made for made in by_source.values() if len(made) > 1]
    assert repeated
    assert all(len({len(one) for one in made}) == 1 for made in by_source.values())


def said_in(split: str, **keys: Any) -> list[bytes]:
    of = source(**keys)
    return [of.text(one) for part in of.made(split) for one in list(part.parts(1))[::2]]


def test_the_sources_are_sentences_of_the_documents_in_their_order() -> None:
    text = b"".join(toy(**{**SETTINGS, "tokens": (0, 200_000, 0)}).pieces("validation"))
    place = 0
    for sentence in said_in("validation"):
        place = text.index(sentence, place) + len(sentence)


def test_no_sentence_is_in_two_splits_whatever_the_seed() -> None:
    equal = {"tokens": (8_000, 8_000, 8_000)}
    train, validation, test = (
        {one for seed in (0, 1) for one in said_in(split, seed=seed, **equal)} for split in SPLITS
    )
    assert not train & validation
    assert not train & test
    assert not validation & test
    assert min(map(len, (train, validation, test))) > 200


def test_every_word_of_a_held_out_sentence_is_trained_on() -> None:
    of = source(tokens=(150_000, 8_000, 8_000), lexicon=24)
    train, validation, test = (
        {word for part in of.made(split) for said, _ in pairs(part) for word in said} for split in SPLITS
    )
    assert validation | test <= train
    assert {ID["norland"], ID["farms"]} <= train


def test_of_all_sentences_eight_tenths_are_for_training_and_a_tenth_for_each_other_split() -> None:
    generator = source().generator
    documents = generator.documents(0, 0, 1000)
    made = translate(documents, generator.draws(0, 0, documents))
    every = {tuple(said) for said, _ in pairs(made)}
    parts = [{tuple(said) for said, _ in pairs(of_split(made, split))} for split in range(3)]
    assert sum(map(len, parts)) == len(set().union(*parts)) == len(every)
    alone = {said for said in every if said[0] in (ID["about"], ID["in"])}
    assert alone <= parts[0]
    every, parts = every - alone, [part - alone for part in parts]
    assert np.allclose([len(part) / len(every) for part in parts], [0.8, 0.1, 0.1], atol=2 / np.sqrt(len(every)))


def test_a_language_too_small_to_hold_sentences_out_is_refused() -> None:
    two_sums = source(recall=0.0, copying=0.0, facts=0.0, arithmetic=1.0, largest=0)
    with pytest.raises(UserError, match="documents have 0 sentences for validation, since each belongs to one split"):
        list(two_sums.made("validation"))


def test_objects_stand_in_the_accusative_and_the_verb_last() -> None:
    accusative = set(second().accusative.tolist())
    transitive = {ID[form] for verb in words.TRANSITIVE for form in (verb, words.singular(verb))}
    for said, target in pairs(next(source(reference=0.0).made("validation"))):
        main = [a for a, b in pairwise(said) if a in transitive and b == ID["the"]]
        assert len(accusative & set(target)) == len(main) <= 1
        if main:
            assert target[-2] in {*second().forms[main[0]].tolist(), *second().synonyms[main[0]].tolist()}
    assert len(ACCUSATIVE) == 4


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    option = Option("toy_translation", {**SETTINGS, "tokens": (3000, 1500, 0), "lexicon": 12})
    return load_corpus(option, Option("words"), str(tmp_path_factory.mktemp("cache")))


def test_pairs_of_the_corpus_carry_the_floor_of_their_targets(corpus: Corpus) -> None:
    assert corpus.kind == "pairs"
    of = source(tokens=(3000, 1500, 0), lexicon=12)
    words_floor = floor_of_source(of, "validation")
    split = corpus.split("validation")
    found = floor_of_split(split, corpus.tokenizer, of.skills, parts=2)
    assert (found.tokens, found.bytes) == (words_floor.tokens, words_floor.bytes)
    assert found.nats == pytest.approx(words_floor.nats, rel=1e-6)
    assert found.bits_per_byte == pytest.approx(words_floor.bits_per_byte, rel=1e-6)
    total = 0.0
    for batch in Loader(corpus, "validation", 64, 0, 8, 4096).evaluation():
        assert isinstance(batch, PairBatch)
        assert batch.notes is not None
        assert batch.notes.floor.shape == batch.target.shape
        assert not batch.notes.floor[~batch.target_real].any()
        total += float(batch.notes.floor.double().sum())
    assert total == pytest.approx(found.nats * found.tokens, rel=1e-6)
    train = Loader(corpus, "train", 64, 0, 8, 4096).train_batch(0, 0)
    assert isinstance(train, PairBatch)
    assert train.notes is None


def test_a_translation_does_not_depend_on_the_size_of_the_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    few = source(tokens=(0, 3000, 0), lexicon=8)
    whole = b"".join(few.pieces("validation"))
    monkeypatch.setattr("zoo.data.toy.generator.AT_ONCE", 500)
    assert b"".join(few.pieces("validation")) == whole


def test_the_summary_says_where_it_comes_from(corpus: Corpus, tmp_path: Path) -> None:
    assert corpus.summary["made_by"]["version"] == VERSION
    assert corpus.summary["divided"] == "made apart"
    assert corpus.summary["documents"] == sum(len(one.offsets) - 1 for one in corpus.splits.values()) // 2
