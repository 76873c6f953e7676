"""Documents of the toy language with labels: pairs of a text and the words that label its tokens, or all of it."""

import math
from collections.abc import Iterator

import numpy as np
from jaxtyping import Float64, Int64, UInt32

from zoo.data.generated import END, Documents
from zoo.data.toy import words
from zoo.data.toy.clause import noun_shares
from zoo.data.toy.settings import Settings
from zoo.data.toy.skills import Skill
from zoo.data.toy.translation import NOUN
from zoo.data.toy.views import questions, roles
from zoo.data.toy.words import ALL, ID, SURFACES

TAGS = ("OTHER", "SUBJECT", "INNER", "PLACE", "OBJECT", "ANSWER")
"""The words of labels: the roles of `views.ROLES`, then the span that answers."""
ASK = len(ALL) + len(TAGS)
LABELLED = [*SURFACES, *(f" {tag}".encode() for tag in TAGS), b"?"]
"""How the words are written: those of the language, then the tags, then the mark that asks."""
LABELLED[ID["about"]] = b" about"  # a document follows upon a tag here, not upon a full stop
OTHER, ANSWER = len(ALL), len(ALL) + TAGS.index("ANSWER")
TITLE = 3
"""The words of "about songs."."""


def with_roles(documents: Documents) -> Documents:
    """Each document, and the role of each of its words. All is determined by the sentence so far."""
    role = roles(documents)
    tags = np.where(documents.words == END, END, OTHER + role)
    lengths = np.diff(documents.offsets)
    first = np.repeat(documents.offsets[:-1], lengths) + np.arange(len(role))
    second = first + np.repeat(lengths, lengths)
    made = _empty(2 * len(role), np.concatenate([[0], np.cumsum(np.repeat(lengths, 2))]))
    made.words[first], made.words[second], made.skill[second] = documents.words, tags, role
    return made


def with_spans(documents: Documents, draws: UInt32[np.ndarray, "N"]) -> Documents:
    """`serve amy? about farms. …`: one question for each document that answers any, the document, and a tag that says
    which word answers it, where it was said first."""
    asked: dict[int, list[tuple[tuple[str, ...], int]]] = {}
    for one in questions(documents):
        asked.setdefault(one.document, []).append((one.words, one.start))
    rows = []
    for d, listed in asked.items():
        a, b = documents.offsets[d], documents.offsets[d + 1]
        what, answer = listed[int(draws[a]) % len(listed)]
        question = np.array([*(ID[word] for word in what), ASK])
        tags = np.full(len(question) + b - a, OTHER)
        tags[len(question) + answer], tags[-1] = ANSWER, END
        rows.append((np.concatenate([question, documents.words[a:b]]), tags, (tags == ANSWER).astype(np.uint8), 0.0))
    return _pairs(rows)


def with_topics(documents: Documents, s: Settings) -> Documents:
    """Each document without its title, closed by the mark that asks, and the word of its topic."""
    posterior = posteriors(documents, s)
    rows = []
    for d, (a, b) in enumerate(zip(documents.offsets, documents.offsets[1:], strict=False)):
        text = np.concatenate([documents.words[a + TITLE : b - 1], [ASK, END]])
        topic = documents.words[a + 1]
        nats = -math.log(posterior[d, topic - ID[words.TOPICS[0]]])
        rows.append((text, np.array([topic, END]), np.zeros(2, np.uint8), nats))
    return _pairs(rows)


def posteriors(documents: Documents, s: Settings) -> Float64[np.ndarray, "D topics"]:
    """How likely each topic is for one who reads a document without its title: only the nouns that are free tell."""
    table = np.zeros((len(ALL), len(words.TOPICS)))
    for nouns in (words.CREATURES, words.THINGS):
        for topic in range(len(words.TOPICS)):
            for noun, share in noun_shares(s, nouns, topic).items():
                for form in (noun, words.plural(noun)):
                    table[ID[form], topic] = math.log(share) if share else -math.inf
    free = NOUN[documents.words] & (documents.skill == Skill.LEXICAL)
    nats = np.add.reduceat(np.where(free[:, None], table[documents.words], 0.0), documents.offsets[:-1])
    likely = np.exp(nats - nats.max(1, keepdims=True))
    return likely / likely.sum(1, keepdims=True)


Row = tuple[np.ndarray, np.ndarray, np.ndarray, float]
"""A text, its labels, the skill of each, and the floor of the first."""


def _pairs(rows: list[Row]) -> Documents:
    sizes = [len(part) for row in rows for part in row[:2]]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    made = _empty(int(offsets[-1]), offsets)
    for i, (text, labels, skill, nats) in enumerate(rows):
        first, second, last = offsets[2 * i : 2 * i + 3]
        made.words[first:second], made.words[second:last], made.skill[second:last] = text, labels, skill
        made.floor[second] = nats
    return made


def _empty(size: int, offsets: Int64[np.ndarray, "D1"]) -> Documents:
    zeros = np.zeros(size, np.float32), np.zeros(size, np.uint8), np.zeros(size, np.int64)
    return Documents(np.full(size, END, dtype=np.int64), *zeros, offsets)


def batches(made: Iterator[Documents]) -> Iterator[tuple[int, Documents]]:
    """Parts with the number of the first document of each."""
    start = 0
    for documents in made:
        yield start, documents
        start += len(documents.offsets) - 1
