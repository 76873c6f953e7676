"""What the tests of the toy language share: small languages, and their documents as words."""

from collections.abc import Iterator
from typing import Any

from zoo.data.generated import Documents
from zoo.data.source import sources
from zoo.data.source.toy import Toy
from zoo.data.toy.generator import Generator
from zoo.data.toy.settings import Settings
from zoo.data.toy.words import ALL
from zoo.option import Option

SENTENCE: dict[str, Any] = {"sentences": 1.0, "shortest": 0}
"""Documents of one sentence."""
TINY: dict[str, Any] = {**SENTENCE, "lexicon": 1, "depth": 1, "people": 1, "letters": 2, "lands": 2, "largest": 1}
"""So small that all its documents can be counted."""


def toy(**keys: Any) -> Toy:
    """The source of data=toy."""
    source = sources.build(Option("toy", keys))
    assert isinstance(source, Toy)
    return source


def made(count: int, *, split: int = 0, start: int = 0, seed: int = 0, **keys: Any) -> Documents:
    """Documents of a language with those settings."""
    return Generator(Settings(**keys), seed).documents(split, start, count)


def texts(documents: Documents) -> Iterator[list[str]]:
    """The words of each document, with the end mark."""
    for a, b in zip(documents.offsets[:-1], documents.offsets[1:], strict=True):
        yield [ALL[word] for word in documents.words[a:b].tolist()]


def sentences(documents: Documents) -> Iterator[list[str]]:
    """All sentences, without their full stops, titles included."""
    for text in texts(documents):
        yield from (part.split() for part in " ".join(text).split(" . ") if part)
