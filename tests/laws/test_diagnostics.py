"""Every diagnostic task keeps these laws; a new one is tested by existing. `write` makes documents in arrays, `next`
the same of one document in plain Python: each is held against the other."""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from zoo.command.compose import compose
from zoo.config import plain
from zoo.data.diagnostic import ANSWER, FORM, Diagnostic
from zoo.data.floor import floor_of_source
from zoo.data.generated import END, Documents
from zoo.data.source import sources
from zoo.data.split import SPLITS
from zoo.data.tokenizer import tokenizers
from zoo.errors import UserError
from zoo.option import Option

TASKS = [name for name in sources.names() if issubclass(sources.get(name), Diagnostic)]
PLAIN = {"tokens", "seed"}

TINY: dict[str, dict[str, Any]] = {
    "brackets": {"kinds": 2, "depth": 2, "steps": 4},
    "compression": {"length": 4, "letters": 3},
    "copy": {"letters": 2, "lengths": (1, 3), "test_lengths": (4, 5)},
    "fuzzy_recall": {"pairs": 2, "width": 2, "letters": 1, "digits": 2},
    "in_context_recall": {"pairs": 4, "keys": 2, "values": 3},
    "memorisation": {"pairs": 2, "keys": 3, "values": 5},
    "modular_arithmetic": {"modulus": 3, "terms": (1, 3), "test_terms": (3, 3)},
    "mqar": {"pairs": 2, "queries": 1, "fillers": 1, "keys": 2, "values": 3, "noise": 2},
    "noisy_recall": {"pairs": 2, "keys": 2, "values": 2, "fillers": 1, "noise": 2},
    "parity": {"bits": (1, 3), "test_bits": (4, 4)},
    "reverse": {"letters": 2, "lengths": (1, 3), "test_lengths": (4, 5)},
    "selective_copying": {"symbols": 2, "fillers": 1, "letters": 2, "noise": 2},
    "sort": {"letters": 3, "lengths": (1, 3), "test_lengths": (4, 4)},
}
"""So small that all documents can be listed."""
OTHER: dict[str, Any] = {"kinds": 3, "operators": 3, "queries": 7}
"""Another value for keys that cannot simply be raised."""


def task(name: str, **keys: Any) -> Diagnostic:
    source = sources.build(Option(name, keys))
    assert isinstance(source, Diagnostic)
    return source


def listed(source: Diagnostic, split: str, before: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """Every document with its probability, by `next` alone."""
    if before and before[-1] == END:
        yield before, Fraction(1)
        return
    for word, p in source.next(before, split).items():
        for document, rest in listed(source, split, (*before, word)):
            yield document, p * rest


def singles(documents: Documents) -> Iterator[tuple[list[int], Documents]]:
    for one in documents.parts(1):
        yield one.words.tolist(), one


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("split", ["train", "test"])
def test_each_word_is_as_likely_as_reported_and_each_answer_is_the_one_that_is_right(name: str, split: str) -> None:
    """Whoever reads the document finds the answer, or this fails."""
    source = task(name)
    for words, one in singles(source.some(split, 5, 20)):
        for i, word in enumerate(words):
            possible = source.next(words[:i], split)
            assert sum(possible.values()) == 1
            assert one.floor[i] == pytest.approx(-math.log(possible[word]), abs=1e-6)
            assert (one.floor[i] == 0) == (possible[word] == 1)
            assert 0 <= one.distance[i] <= i
            if one.skill[i] == ANSWER:
                assert word in source.candidates(words[:i])
        assert words[-1] == END
        assert one.skill[-1] == FORM


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("split", ["train", "test"])
def test_documents_come_as_often_as_their_floor_says_and_the_mean_floor_is_the_entropy(name: str, split: str) -> None:
    source, count = task(name, **TINY[name]), 20_000
    expected = dict(listed(source, split))
    assert sum(expected.values()) == 1
    found: Counter[tuple[int, ...]] = Counter()
    floor: dict[tuple[int, ...], float] = {}
    made = source.some(split, 0, count)
    words, sums = made.words.tolist(), np.add.reduceat(made.floor.astype(np.float64), made.offsets[:-1])
    for a, b, nats in zip(made.offsets, made.offsets[1:], sums, strict=False):
        document = tuple(words[a:b])
        found[document] += 1
        floor[document] = float(nats)
    for document, p in expected.items():
        mean = float(p) * count
        assert abs(found[document] - mean) < 5 * math.sqrt(mean) + 5, source.surfaces
    entropy = -sum(float(p) * math.log(p) for p in expected.values())
    assert sum(float(expected[one]) * nats for one, nats in floor.items()) == pytest.approx(
        entropy, rel=1e-5, abs=float(sum(p for one, p in expected.items() if one not in floor)) * 20
    )
    assert set(found) <= set(expected)


@pytest.mark.parametrize("name", TASKS)
def test_every_key_reaches_the_documents_and_the_identity(name: str) -> None:
    """No difficulty is lost on its way to the generator."""
    base = task(name)
    for field in fields(base):
        if field.name in PLAIN - {"seed"}:
            continue
        value = getattr(base, field.name)
        raised = OTHER.get(field.name, tuple(one + 1 for one in value) if isinstance(value, tuple) else value + 1)
        other = task(name, **{field.name: raised})
        assert other.content() != base.content(), field.name
        texts = [[one.text(one.some(split, 0, 30)) for split in SPLITS] for one in (base, other)]
        assert texts[0] != texts[1], field.name


@pytest.mark.parametrize("name", TASKS)
def test_keys_for_test_reach_test_and_nothing_else(name: str) -> None:
    base = task(name)
    for field in fields(base):
        if field.name.startswith("test_"):
            low, high = getattr(base, field.name)
            trained = getattr(base, field.name.removeprefix("test_"))
            assert trained[1] < low, "test asks for what was not trained"
            other = task(name, **{field.name: (low + 1, high + 1)})
            for split in SPLITS:
                same = base.text(base.some(split, 0, 30)) == other.text(other.some(split, 0, 30))
                assert same == (split != "test")
            sizes = [np.diff(base.some(split, 0, 400).offsets) for split in SPLITS]
            assert max(sizes[0].max(), sizes[1].max()) < sizes[2].min()
            assert len(set(sizes[0])) == trained[1] - trained[0] + 1


@pytest.mark.unchecked
@pytest.mark.parametrize("name", TASKS)
def test_guessing_scores_what_the_chance_line_says(name: str) -> None:
    source, generator = task(name), np.random.default_rng(0)
    right, nats = [], []
    for words, one in singles(source.some("train", 0, 400)):
        determined = one.floor == 0 if one.floor[one.skill == ANSWER].min(initial=1) == 0 else one.floor >= 0
        for i in np.flatnonzero((one.skill == ANSWER) & determined).tolist():
            candidates = source.candidates(words[:i])
            right.append(candidates[generator.integers(len(candidates))] == words[i])
            nats.append(math.log(len(candidates)))
    chance = source.chance
    assert abs(np.mean(right) - chance.accuracy) < 4 * math.sqrt(chance.accuracy * (1 - chance.accuracy) / len(right))
    assert abs(np.mean(nats) - chance.nats) < 4 * max(np.std(nats), 1e-9) / math.sqrt(len(nats) / 20)


@pytest.mark.unchecked
@pytest.mark.parametrize("name", TASKS)
def test_the_source_itself_scores_what_the_best_line_says(name: str) -> None:
    source = task(name)
    best, right, nats = source.best, [], []
    for words, one in singles(source.some("validation", 0, 200)):
        answers = np.flatnonzero(one.skill == ANSWER)
        certain = answers[one.floor[answers] == 0]
        for i in (certain if best.nats == 0 else answers).tolist():
            possible = source.next(words[:i], "validation")
            most = max(possible.values())
            right.append(float(most))
            nats.append(sum(-float(p) * math.log(p) for p in possible.values()))
    assert right
    assert np.mean(right) == pytest.approx(best.accuracy, abs=4 * np.std(right) / math.sqrt(len(right) / 20))
    assert np.mean(nats) == pytest.approx(best.nats, abs=4 * np.std(nats) / math.sqrt(len(nats) / 20))


@pytest.mark.parametrize("name", TASKS)
def test_documents_are_a_function_of_seed_split_and_number(name: str) -> None:
    source = task(name)
    together = source.some("train", 0, 9)
    alone = [source.some("train", i, 1) for i in range(9)]
    for key in ("words", "floor", "skill", "distance"):
        assert np.array_equal(np.concatenate([getattr(one, key) for one in alone]), getattr(together, key))
    stream = np.concatenate([one.words for one in source.made("train", 3000)])
    again = np.concatenate([one.words for one in task(name).made("train", 6000)])
    assert np.array_equal(stream, again[: len(stream)])
    assert len(stream) >= 3000


@pytest.mark.parametrize("name", TASKS)
def test_splits_and_seeds_share_no_stream(name: str) -> None:
    keys = [task(name, seed=seed)._keys(split, np.arange(1000)) for seed in (0, 1) for split in SPLITS]
    assert len(np.unique(np.concatenate(keys))) == 6000


@pytest.mark.unchecked
@pytest.mark.parametrize("name", TASKS)
def test_no_more_held_out_documents_are_in_train_than_must_come_there_by_chance(name: str) -> None:
    """None at all, where there are many documents or test asks for longer ones; short ones coincide."""
    source, count = task(name), 1500
    longer = any(field.name.startswith("test_") for field in fields(source))
    train = {tuple(words) for words, _ in singles(source.some("train", 0, count))}
    for split in SPLITS[1:]:
        made = list(singles(source.some(split, 0, count)))
        shared = sum(tuple(words) in train for words, _ in made)
        likely = [math.exp(-one.floor.sum(dtype=np.float64)) for _, one in made if not (longer and split == "test")]
        expected = sum(1 - (1 - p) ** count for p in likely)
        assert abs(shared - expected) <= 5 * math.sqrt(expected), split


@pytest.mark.parametrize("name", TASKS)
def test_every_tokenizer_reads_the_words(name: str) -> None:
    source = task(name)
    text = source.text(source.some("train", 0, 50))
    assert len(set(source.surfaces)) == len(source.surfaces)
    words = tokenizers.build(Option("words"))
    words.train([source.glossary()])
    made = source.some("train", 0, 50)
    assert len(words.encode(text)) == (made.words != END).sum()  # one token a word
    assert words.text_ids == len(source.surfaces)


@pytest.mark.parametrize("name", TASKS)
def test_the_yaml_has_every_key_with_its_default(name: str) -> None:
    node = plain(compose([f"data={name}"]))["data"]
    source = task(name)
    assert node.pop("name") == name
    assert node == {
        field.name: list(value) if isinstance(value := getattr(source, field.name), tuple) else value
        for field in fields(source)
    }
    assert floor_of_source(task(name, tokens=(0, 2000, 0)), "validation").skills["answer"].tokens


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("mqar", {"pairs": 70}),
        ("mqar", {"queries": 9}),
        ("in_context_recall", {"keys": 40}),
        ("memorisation", {"pairs": 300}),
        ("copy", {"lengths": (0, 4)}),
        ("copy", {"test_lengths": (9, 8)}),
        ("modular_arithmetic", {"operators": 4}),
        ("brackets", {"kinds": 5}),
        ("parity", {"seed": -1}),
        ("compression", {"letters": 0}),
        ("sort", {"tokens": (0, 0, 0)}),
    ],
)
def test_settings_that_make_no_task_are_refused(name: str, keys: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=next(iter(keys))):
        task(name, **keys)
