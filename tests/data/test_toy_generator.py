"""The documents of the toy language are a function of (version, settings, seed, split, number) and nothing else."""

import hashlib
import os
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.data.toy import made, texts
from zoo.data.generated import Documents, Generated
from zoo.data.source import sources
from zoo.data.toy import generator
from zoo.data.toy.document import situations
from zoo.data.toy.generator import VERSION, Generator
from zoo.data.toy.grammar import UNIT, zipf
from zoo.data.toy.oracle import Oracle
from zoo.data.toy.settings import Settings
from zoo.data.toy.tables import tables
from zoo.data.toy.words import SURFACES
from zoo.option import Option

SMALL: dict[str, Any] = {"lexicon": 8, "recall": 0.3}


def same(a: Documents, b: Documents) -> bool:
    return all(
        np.array_equal(getattr(a, key), getattr(b, key)) for key in ("words", "floor", "skill", "distance", "offsets")
    )


def joined(parts: list[Documents]) -> list[np.ndarray]:
    return [np.concatenate([getattr(one, key) for one in parts]) for key in ("words", "floor", "skill", "distance")]


EXPLICIT: dict[str, Any] = {
    "sentences": 16.0,
    "shortest": 40,
    "lexicon": 24,
    "zipf": 1.1,
    "topics": 0.5,
    "plurals": 0.4,
    "distractors": 0.3,
    "most_distractors": 2,
    "nesting": 0.3,
    "depth": 4,
    "reference": 0.4,
    "recall": 0.3,
    "people": 6,
    "relations": 3,
    "copying": 0.05,
    "letters": 8,
    "facts": 0.06,
    "lands": 32,
    "arithmetic": 0.06,
    "largest": 20,
}


def test_the_golden_hash() -> None:
    """Written out in full, so that other defaults are no other language. When this fails, raise VERSION."""
    assert set(EXPLICIT) == {field.name for field in fields(Settings)}
    documents = made(100, split=1, start=7, seed=42, **EXPLICIT)
    text = b"".join([SURFACES[word] for word in documents.words.tolist()])
    notes = documents.skill.tobytes() + documents.distance.astype("<i8").tobytes()
    assert VERSION == 3
    assert (
        hashlib.sha256(text + notes).hexdigest() == "711556bcb08fc8aa814c913f5d8d635eb381ab0705e64f16d16d66090a87a91a"
    )
    assert documents.floor.sum(dtype=np.float64) == pytest.approx(30432.920, rel=1e-6)


def test_the_golden_hash_of_the_translation() -> None:
    source = sources.build(Option("toy_translation", {"tokens": (0, 3000, 0), "seed": 42, **EXPLICIT}))
    assert isinstance(source, Generated)
    assert (
        hashlib.sha256(b"".join(source.pieces("validation"))).hexdigest()
        == "fd83950982d36a523ca9396fe8b77c95b22dbda24d3ac6782868e4a7f5439f19"
    )


def test_random_numbers_are_those_of_splitmix64() -> None:
    state, numbers = 1234567, []
    for _ in range(3):  # as published by Steele, Lea and Flood 2014, in Python's whole numbers
        state = (state + 0x9E3779B97F4A7C15) % (1 << 64)
        z = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 % (1 << 64)
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % (1 << 64)
        numbers.append(z ^ (z >> 31))
    assert numbers == [6457827717110365317, 3203168211198807973, 9817491932198370423]
    keys = np.full(3, 1234567, dtype=np.uint64)
    steps = np.array([i * generator.GOLDEN % (1 << 64) for i in range(3)], dtype=np.uint64)
    assert generator.mix(keys + steps).tolist() == numbers


def test_as_many_random_numbers_make_a_choice_as_its_weight_says() -> None:
    made = tables(situations(Settings(**SMALL)))
    row, start = made.edges // UNIT, made.edges % UNIT
    everyone = np.arange(len(row))
    assert np.array_equal(made.choose(row, start), everyone)
    assert np.array_equal(made.choose(row, start + made.weights - 1), everyone)
    assert np.array_equal(np.bincount(row, made.weights), np.full(row[-1] + 1, UNIT))
    assert np.array_equal(made.edges[1:] - made.edges[:-1], made.weights[:-1])


@pytest.mark.unchecked
def test_documents_do_not_depend_on_how_many_are_made_together() -> None:
    together = made(12, **SMALL)
    alone = [made(1, start=i, **SMALL) for i in range(12)]
    assert all(map(np.array_equal, joined(alone), joined([together])))
    assert same(together.part(7, 8), alone[7])


@pytest.mark.unchecked
@pytest.mark.parametrize("size", [1, 100, 5000])
def test_a_split_does_not_depend_on_the_size_of_its_parts(size: int) -> None:
    source = Generator(Settings(**SMALL), 0)
    whole, *rest = (joined(list(source.stream(0, size, at_once))) for at_once in (1 << 20, 900, 10))
    assert all(np.array_equal(a, b) for one in rest for a, b in zip(whole, one, strict=True))
    last = made(1, start=int((whole[0] == 0).sum()) - 1, **SMALL)
    assert size <= len(whole[0]) < size + len(last.words)


@pytest.mark.unchecked
def test_what_is_made_ahead_is_what_was_asked_for() -> None:
    source = Generator(Settings(**SMALL), 0)
    for split, start, size in [(0, 0, 9000), (0, 12, 5000), (0, 3, 100), (1, 3, 100), (0, 500, 100), (0, 0, 100)]:
        some = source.some(split, start, size)
        assert same(some, made(len(some.offsets) - 1, split=split, start=start, **SMALL))


@pytest.mark.unchecked
def test_a_split_is_made_in_one_go_once_the_length_of_documents_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    source, walks = Generator(Settings(), 0), []
    walk = source._walk
    monkeypatch.setattr(source, "_walk", lambda keys: walks.append(len(keys)) or walk(keys))
    for split in (0, 1):
        walks.clear()
        assert len(list(source.stream(split, 20_000))) > 2
    assert len(walks) == 1


@pytest.mark.unchecked
def test_a_larger_split_begins_with_the_smaller_one() -> None:
    source = Generator(Settings(**SMALL), 0)
    small, large = (joined(list(source.stream(0, size)))[0] for size in (1000, 3000))
    assert np.array_equal(large[: len(small)], small)


@pytest.mark.unchecked
def test_seeds_splits_and_numbers_each_give_other_documents() -> None:
    listed = [
        tuple(text)
        for seed in (0, 1, 1 << 62)
        for split in (0, 1, 2)
        for text in texts(made(20, split=split, seed=seed, **SMALL))
    ]
    assert len(set(listed)) == len(listed)


@pytest.mark.unchecked
def test_no_two_documents_of_a_corpus_have_one_key() -> None:
    source = Generator(Settings(**SMALL), 0)
    keys = np.concatenate([source._keys(split, np.arange(100_000)) for split in (0, 1, 2)])
    assert len(np.unique(keys)) == 300_000


@pytest.mark.unchecked
def test_parts_of_documents_are_the_documents() -> None:
    documents = made(30, **SMALL)
    for words in (1, 300, 10**6):
        parts = list(documents.parts(words))
        assert sum(len(one.offsets) - 1 for one in parts) == 30
        assert all(map(np.array_equal, joined(parts), joined([documents])))


@pytest.mark.unchecked
def test_words_are_as_frequent_as_zipf_says() -> None:
    documents = made(400, seed=1, topics=0.0, facts=0.5, recall=0.0, lands=8, lexicon=8)
    lands = [text[i + 1] for text in texts(documents) for i, word in enumerate(text) if word == "in"]
    counts = np.array([lands.count(name) for name in dict.fromkeys(lands)])
    expected = np.sort([float(one) for one in zipf(8, 1.0)])[::-1] * len(lands)
    assert np.abs(np.sort(counts)[::-1] - expected).max() < 5 * np.sqrt(expected.max())


@pytest.mark.unchecked
def test_the_mean_floor_is_the_entropy_of_the_source() -> None:
    """Σ (−log p − entropy) over all words is a fair game: what is reported is what is drawn."""
    documents, oracle = made(40, seed=3, **SMALL), Oracle(Settings(**SMALL))
    gain = spread = 0.0
    for text in texts(documents):
        oracle.restart()
        for word in text:
            listed = [(float(one.probability), one.nats) for one in oracle.next().values()]
            entropy = sum(p * nats for p, nats in listed)
            spread += sum(p * (nats - entropy) ** 2 for p, nats in listed)
            gain += oracle.read(word).nats - entropy
    assert abs(gain) < 4 * np.sqrt(spread)
    assert abs(gain) < 0.05 * len(documents.words)


@pytest.mark.unchecked
def test_documents_of_any_length_up_to_8192_words_and_more() -> None:
    lengths = np.diff(made(4, shortest=8192, **SMALL).offsets)
    assert lengths.min() > 8192


MEMORY = """
import resource, sys
from zoo.data.building import making
from zoo.data.corpus import load_corpus
from zoo.option import Option
from zoo.data.toy import generator

generator.AT_ONCE = making.TAUGHT = 1 << 16

def use(size):
    option = Option("toy", {"tokens": (size, size, 0), "lexicon": 8})
    return load_corpus(option, Option("words"), sys.argv[1]).summary["splits"]["train"]["tokens"] // size

small = use(80_000)
now = int(next(line for line in open("/proc/self/status") if line.startswith("VmData")).split()[1]) << 10
resource.setrlimit(resource.RLIMIT_DATA, (now + (24 << 20),) * 2)  # memory of our own, not that of mapped files
print(small, use(400_000))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")
def test_a_corpus_is_made_in_constant_memory(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-c", MEMORY, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["1", "1"]
