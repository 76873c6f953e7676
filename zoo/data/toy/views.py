"""Other questions about the same documents: their topic, the role of each word, questions with an answer in the text,
and beginnings to go on from. Records for objectives to come."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int64

from zoo.data.generated import END, Documents
from zoo.data.toy import words
from zoo.data.toy.translation import NOUN, PREPOSITION, SIZE, THAT, THE, TRANSITIVE
from zoo.data.toy.words import ALL, ID

ROLES = ("other", "subject", "inner subject", "place", "object")
FIRST_TOPIC, STOP = ID[words.TOPICS[0]], ID["."]


@dataclass(frozen=True)
class Question:
    """Extractive: the answer is words `start` to `stop` − 1 of the document, where it was said first."""

    document: int
    words: tuple[str, ...]
    start: int
    stop: int


@dataclass(frozen=True)
class Continuation:
    """A document cut between two sentences, and the floor of what follows, in nats."""

    prefix: tuple[str, ...]
    continuation: tuple[str, ...]
    floor: float


def topics(documents: Documents) -> Int64[np.ndarray, "D"]:
    """The number of each document's topic, which its second word names: leave the first sentence out to ask for it."""
    return documents.words[documents.offsets[:-1] + 1] - FIRST_TOPIC


def roles(documents: Documents) -> Int64[np.ndarray, "N"]:
    """The role of each noun in its sentence, by its place in `ROLES`; 0 for all other words."""
    said = documents.words
    padded = np.concatenate([np.full(3, END), said])
    before = [padded[3 - back : len(padded) - back] for back in range(4)]
    sized = SIZE[before[1]]
    introduced = np.where(sized, before[3], before[2])  # what stands before "the"
    article = np.where(sized, before[2], before[1]) == THE
    role = np.full(len(said), 1)
    role[introduced == THAT] = 2
    role[PREPOSITION[introduced]] = 3
    role[TRANSITIVE[introduced]] = 4
    return np.where(NOUN[said] & article, role, 0)


def questions(documents: Documents) -> Iterator[Question]:
    """One for each thing that was said about a person: ("serve", "amy"), answered by where its value first stands."""
    for d, (a, b) in enumerate(zip(documents.offsets[:-1], documents.offsets[1:], strict=True)):
        said = [ALL[word] for word in documents.words[a:b].tolist()]
        asked = set()
        for i, verb in enumerate(said):
            if verb in words.RELATIONS and (verb, said[i + 1]) not in asked:
                asked.add((verb, said[i + 1]))
                yield Question(d, (verb, said[i + 1]), i + 2, i + 3)


def continuations(documents: Documents, share: float = 0.5) -> Iterator[Continuation]:
    """Each document cut after the sentence in which that share of its words is reached; one that ends there is left
    out."""
    for a, b in zip(documents.offsets[:-1], documents.offsets[1:], strict=True):
        said = documents.words[a:b]
        stops = np.flatnonzero(said == STOP) + 1
        cut = int(stops[min(int(np.searchsorted(stops, share * len(said))), len(stops) - 1)])
        if cut < len(said) - 1:
            text = tuple(ALL[word] for word in said[:-1].tolist())
            yield Continuation(text[:cut], text[cut:], float(documents.floor[a + cut : b].sum(dtype=np.float64)))
