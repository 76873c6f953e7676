"""What the documents of the toy language say, read by eyes that do not know its grammar; and what each setting does."""

import re
from collections import defaultdict
from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.data.toy import made, sentences, texts, toy
from zoo.data.toy import words
from zoo.data.toy.document import situations
from zoo.data.toy.grammar import Act
from zoo.data.toy.settings import Settings
from zoo.data.toy.skills import Skill
from zoo.errors import UserError

pytestmark = pytest.mark.unchecked  # thousands of calls that test_toy_generator.py checks

NOUN = {form: n for noun in [*words.CREATURES, *words.THINGS] for n, form in ((0, noun), (1, words.plural(noun)))}
VERB = {
    form: n for verb in [*words.TRANSITIVE, *words.INTRANSITIVE] for n, form in ((0, words.singular(verb)), (1, verb))
}
SMALL: dict[str, Any] = {"lexicon": 8, "recall": 0.3}
DEEP: dict[str, Any] = {"nesting": 0.5, "distractors": 0.4, "lexicon": 12, "recall": 0.3}


def skills(**settings: Any) -> set[int]:
    return set(made(60, **{**SMALL, **settings}).skill.tolist())


def clauses(**settings: Any) -> list[list[str]]:
    return [one for one in sentences(made(300, **settings)) if one[0] == "the"]


def test_no_word_stands_in_two_lists() -> None:
    assert len(set(words.ALL)) == len(words.ALL)
    assert 500 < len(words.ALL) < 1000


def test_a_verb_has_the_number_of_its_subject_however_deep() -> None:
    deepest = 0
    for sentence in clauses(**DEEP):
        open_subjects: list[int] = []
        before = ""
        for word in sentence[: sentence.index("because")] if "because" in sentence else sentence:
            inner = before not in words.PREPOSITIONS
            if word in NOUN and inner and not (VERB.keys() & {before} and not open_subjects):
                open_subjects.append(NOUN[word])
                deepest = max(deepest, len(open_subjects))
            if word in VERB:
                assert VERB[word] == open_subjects.pop(), sentence
                if not open_subjects:
                    break
            before = word if word != "the" and word not in words.SIZES else before
        assert not open_subjects
    assert deepest == 5


def test_a_pronoun_agrees_with_a_noun_and_what_is_said_of_it_fits() -> None:
    both = [0, 0]
    for sentence in clauses(**DEEP, reference=1.0):
        if "because" not in sentence:
            continue
        at = sentence.index("because")
        pronoun, copula, quality = sentence[at + 1 : at + 4]
        subject = next(word for word in sentence if word in NOUN)
        noun = subject if quality in words.TEMPERS else sentence[at - 1]
        assert quality in words.TEMPERS or quality in words.MATERIALS
        assert (pronoun, copula) == (("it", "is"), ("they", "are"))[NOUN[noun]]
        both[noun == subject] += 1
        if "so" in sentence:
            assert sentence[at + 6 : at + 8] == ["the", noun]
            assert VERB[sentence[at + 8]] == NOUN[noun]
    assert min(both) > 100


def test_what_is_said_of_a_person_once_is_always_so() -> None:
    usual: dict[str, Any] = {"copying": 0.0, "facts": 0.0, "arithmetic": 0.0, "shortest": 200, "lexicon": 8}
    for text in texts(made(100, recall=0.9, people=6, relations=3, **usual)):
        said = defaultdict(set)
        for verb, name, value in re.findall(r"(colour|serve|teach) (\w+) (\w+) \.", " ".join(text)):
            said[name, verb].add(value)
        assert len(said) > 3
        assert all(len(values) == 1 for values in said.values())


def test_copies_sums_and_facts_are_right() -> None:
    found = made(300, recall=0.0, copying=0.3, facts=0.3, arithmetic=0.3, lexicon=8)
    world: dict[str, set[str]] = defaultdict(set)
    for sentence in sentences(found):
        line = " ".join(sentence)
        if spelled := re.fullmatch(r"spell (.*) : (.*)", line):
            assert spelled[1] == spelled[2]
        elif total := re.fullmatch(r"(\d+) (plus|minus) (\d+) is (\d+)", line):
            a, b, c = int(total[1]), int(total[3]), int(total[4])
            assert c == (a + b if total[2] == "plus" else a - b) >= 0
        elif fact := re.fullmatch(r"in (\w+) lies (\w+)", line):
            world[fact[1]].add(fact[2])
    assert len(world) == 32
    assert all(len(cities) == 1 for cities in world.values())
    assert len(set.union(*world.values())) == 32


def test_the_distance_of_a_recalled_word_is_to_where_it_was_said_last() -> None:
    documents = made(60, recall=0.9, copying=0.0, facts=0.0, arithmetic=0.0, lexicon=8)
    recalled = np.flatnonzero(documents.skill == Skill.RECALL)
    assert len(recalled) > 100
    for back in (0, 1, 2):  # the value, the name, the relation
        there = documents.words[recalled - documents.distance[recalled] - back]
        assert np.array_equal(there, documents.words[recalled - back])
    for place in recalled.tolist():
        between = documents.words[place - documents.distance[place] + 1 : place]
        assert documents.words[place] not in between[2:][between[1:-1] == documents.words[place - 1]]


@pytest.mark.parametrize(
    ("off", "skill"),
    [
        ({"nesting": 0.0}, Skill.NESTING),
        ({"reference": 0.0}, Skill.REFERENCE),
        ({"recall": 0.0}, Skill.RECALL),
        ({"copying": 0.0}, Skill.COPYING),
        ({"facts": 0.0}, Skill.FACTS),
        ({"arithmetic": 0.0}, Skill.ARITHMETIC),
    ],
)
def test_a_rate_of_zero_switches_a_skill_off(off: dict[str, float], skill: Skill) -> None:
    assert skill in skills()
    assert skills(**off) == skills() - {skill}


def test_without_plurals_there_is_nothing_to_agree_with() -> None:
    said = {word for text in texts(made(100, plurals=0.0, **SMALL)) for word in text}
    assert not said & {form for form, number in [*NOUN.items(), *VERB.items()] if number}
    assert not said & {"they", "are"}


def test_without_topics_all_documents_have_the_same_nouns() -> None:
    rows = situations(Settings(topics=0.0, lexicon=16))["the bare subject"].rows
    assert len(set(rows)) == 1
    assert len(set(situations(Settings(topics=0.5, lexicon=16))["the bare subject"].rows)) == len(words.TOPICS)


OTHER: dict[str, Any] = {
    "sentences": 4.0,
    "shortest": 90,
    "lexicon": 9,
    "zipf": 0.5,
    "topics": 0.9,
    "plurals": 0.1,
    "distractors": 0.6,
    "most_distractors": 3,
    "nesting": 0.5,
    "depth": 1,
    "reference": 0.9,
    "recall": 0.2,
    "people": 2,
    "relations": 3,
    "copying": 0.2,
    "letters": 2,
    "facts": 0.2,
    "lands": 2,
    "arithmetic": 0.2,
    "largest": 2,
}


USUAL: dict[str, Any] = {"distractors": 0.4, "nesting": 0.4, "lexicon": 10}


@cache
def usual_words() -> list[int]:
    return made(40, **USUAL).words.tolist()


@pytest.mark.parametrize("key", [field.name for field in fields(Settings)])
def test_each_setting_reaches_the_generator(key: str) -> None:
    assert made(40, **{**USUAL, key: OTHER[key]}).words.tolist() != usual_words()
    assert toy(**{key: OTHER[key]}).content() != toy().content()


def test_the_difficulties_mean_what_they_say() -> None:
    shallow = made(100, nesting=0.6, depth=1, distractors=0.0, **SMALL)
    assert max(one.count("that") for one in sentences(shallow)) == 1
    assert all(len(text) > 90 for text in texts(made(30, shortest=90, **SMALL)))
    short, long = (np.diff(made(200, sentences=mean, shortest=0, **SMALL).offsets).mean() for mean in (4.0, 16.0))
    assert short < long / 2
    near = [one.index(":") - 1 for one in sentences(made(60, copying=0.4, letters=2, **SMALL)) if ":" in one]
    assert set(near) == {1, 2}
    people = (len({word for word in text if word in words.NAMES}) for text in texts(made(60, people=2, **SMALL)))
    assert max(people) == 2
    sums = texts(made(80, arithmetic=0.4, largest=2, **SMALL))
    assert {int(word) for text in sums for word in text if word.isdigit()} == {0, 1, 2, 3, 4}
    few = {word for text in texts(made(60, lexicon=3)) for word in text}
    assert len(few & set(NOUN)) <= 12


def test_deeper_nesting_and_more_distractors_make_the_distances_longer() -> None:
    def longest(skill: Skill, **keys: Any) -> int:
        documents = made(150, **SMALL, **keys)
        return int(documents.distance[documents.skill == skill].max())

    nested = [longest(Skill.NESTING, nesting=0.7, distractors=0.0, depth=depth) for depth in (1, 4)]
    assert nested[0] < nested[1]
    across = [longest(Skill.AGREEMENT, distractors=0.8, nesting=0.0, most_distractors=most) for most in (1, 2, 3)]
    assert across == [4, 7, 10]


@pytest.mark.parametrize(
    "keys",
    [
        {"topics": 1.5},
        {"plurals": -0.1},
        {"nesting": 0.95},
        {"nesting": 0.5, "distractors": 0.5},
        {"recall": 0.9, "facts": 0.2},
        {"sentences": 0.5},
        {"sentences": 20_000.0},
        {"shortest": -1},
        {"lexicon": 0},
        {"depth": 5},
        {"people": 17},
        {"relations": 4},
        {"letters": 0},
        {"lands": 65},
        {"largest": 50},
        {"zipf": -1.0},
        {"most_distractors": 0},
        {"seed": -1},
        {"seed": 1 << 63},
        {"tokens": (0, 0, 0)},
        {"tokens": (-1, 5, 5)},
    ],
)
def test_values_that_make_no_language_are_refused_by_name(keys: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=rf"data\.{next(iter(keys))}="):
        toy(**keys)


def test_every_act_has_a_use() -> None:
    used = {one.act for situation in situations(Settings()).values() for row in situation.rows for one in row}
    assert used == set(Act)


def test_shares_are_summed_as_they_are_written() -> None:
    assert 0.9 + 0.05 > 0.95
    toy(distractors=0.9, nesting=0.05)
    assert 0.81 + 0.07 + 0.07 + 0.05 > 1
    toy(recall=0.81, copying=0.07, facts=0.07, arithmetic=0.05)
    with pytest.raises(UserError, match="must sum to at most 1"):
        toy(recall=0.81, copying=0.07, facts=0.07, arithmetic=0.051)


def test_a_sentence_is_the_last_with_a_chance_of_one_in_so_many_from_the_shortest_length_on() -> None:
    ends = []
    for text in texts(made(800, sentences=4.0, shortest=30, **SMALL)):
        stops = [place for place, word in enumerate(text) if word == "." and place + 1 >= 30]
        ends.append(len(stops))
    assert np.mean(ends) == pytest.approx(4, abs=5 * np.sqrt(12 / 800))
