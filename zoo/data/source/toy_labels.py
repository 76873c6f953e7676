"""The toy language with labels: generated corpora of pairs of a text and what is asked about it."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from zoo.data.generated import Documents, Line
from zoo.data.source import sources
from zoo.data.source.toy import FromToy
from zoo.data.split import SPLITS
from zoo.data.toy import words
from zoo.data.toy.labels import LABELLED, batches, with_roles, with_spans, with_topics
from zoo.data.toy.views import ROLES
from zoo.errors import UserError


@dataclass(kw_only=True)
class Labelled(FromToy):
    """What the labelled views share: a pair for each document, whose target labels the last tokens of its source."""

    kind: ClassVar[str] = "pairs"
    parts: ClassVar[int] = 2
    surfaces = LABELLED

    sentences: float = 4.0
    shortest: int = 20

    def made(self, split: str, words: int | None = None) -> Iterator[Documents]:
        """The pairs of a split, some thousands at a time; `words` are those of the documents."""
        for start, documents in batches(self.stream(split, words)):
            made = self.labelled(split, start, documents)
            if len(made.words):
                yield made

    @abstractmethod
    def labelled(self, split: str, start: int, documents: Documents) -> Documents:
        """Each document of a split, from number `start` on, with its labels."""


@sources.register("toy_roles")
@dataclass(kw_only=True)
class ToyRoles(Labelled):
    """Each word of a document with its role: subject, subject of a relative clause, place, object, or other.

    paper: none
    """

    skills: ClassVar[tuple[str, ...]] = ROLES

    def labelled(self, split: str, start: int, documents: Documents) -> Documents:
        return with_roles(documents)


@sources.register("toy_spans")
@dataclass(kw_only=True)
class ToySpans(Labelled):
    """A question, a document, and which of its words answers the question: an extractive span of one word.

    paper: none
    """

    skills: ClassVar[tuple[str, ...]] = ("other", "answer")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.recall:
            raise UserError("data.recall=0 leaves nothing to ask: the questions of data=toy_spans are about people")

    def labelled(self, split: str, start: int, documents: Documents) -> Documents:
        return with_spans(documents, self.generator.draws(SPLITS.index(split), start, documents))


@sources.register("toy_topic")
@dataclass(kw_only=True)
class ToyTopic(Labelled):
    """A document without its title, and its topic. The floor is −log of the topic's probability given the text.

    paper: none
    """

    skills: ClassVar[tuple[str, ...]] = ("topic",)

    def labelled(self, split: str, start: int, documents: Documents) -> Documents:
        return with_topics(documents, self)

    def lines(self) -> dict[str, dict[str, Line]]:
        """Guessing one of the topics."""
        return {"topic": {"chance": Line.among(len(words.TOPICS))}}
