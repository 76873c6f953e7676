"""Labels, questions and continuations of the documents of the toy language."""

import numpy as np
import pytest

from tests.data.toy import made, texts
from zoo.data.toy import words
from zoo.data.toy.views import ROLES, continuations, questions, roles, topics


def test_the_topic_is_what_the_document_is_about() -> None:
    documents = made(60, lexicon=8)
    assert [words.TOPICS[topic] for topic in topics(documents)] == [text[1] for text in texts(documents)]
    assert len(set(topics(documents).tolist())) == len(words.TOPICS)


def test_every_noun_has_the_role_that_it_plays() -> None:
    documents = made(100, nesting=0.4, reference=0.5)
    found = roles(documents)
    nouns = {form for noun in [*words.CREATURES, *words.THINGS] for form in (noun, words.plural(noun))}
    said = [word for text in texts(documents) for word in text]
    for i, word in enumerate(said):
        assert (found[i] > 0) == (word in nouns)
        if found[i]:
            before = [one for one in said[i - 3 : i] if one not in words.SIZES][-2]
            role = ROLES[found[i]]
            assert (role == "inner subject") == (before == "that")
            assert (role == "place") == (before in words.PREPOSITIONS)
            assert (role == "subject") == (before in (".", "so"))
    assert set(found.tolist()) == set(range(len(ROLES)))


def test_the_answer_to_a_question_is_where_it_was_said_first() -> None:
    documents = made(60, lexicon=8, recall=0.8, facts=0.0, copying=0.0, arithmetic=0.0)
    listed = list(texts(documents))
    asked = list(questions(documents))
    assert len({(one.document, one.words) for one in asked}) == len(asked) > 100
    for one in asked:
        text = listed[one.document]
        assert tuple(text[one.start - 2 : one.start]) == one.words
        pairs = [tuple(text[i : i + 2]) for i in range(one.start - 2)]
        assert one.words not in pairs
        assert text[one.start] in words.RELATIONS[one.words[0]]
        assert one.stop == one.start + 1


def test_a_continuation_follows_its_prefix_and_has_the_floor_of_the_rest() -> None:
    documents = made(60, lexicon=8)
    listed = {" ".join(text[:-1]): i for i, text in enumerate(texts(documents))}
    cut = list(continuations(documents, 0.5))
    assert len(cut) > 50
    for one in cut:
        i = listed[" ".join(one.prefix + one.continuation)]
        assert one.prefix[-1] == one.continuation[-1] == "."
        assert len(one.prefix) >= len(one.continuation) - 1
        a, b = documents.offsets[i] + len(one.prefix), documents.offsets[i + 1]
        assert one.floor == pytest.approx(float(documents.floor[a:b].sum(dtype=np.float64)))
