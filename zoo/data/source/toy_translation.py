"""The toy language translated: a generated corpus of pairs of which every probability is known."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from zoo.data.generated import Documents
from zoo.data.source import sources
from zoo.data.source.toy import FromToy
from zoo.data.split import SPLITS
from zoo.toy.second import second
from zoo.toy.translation import translate


@sources.register("toy_translation")
@dataclass(kw_only=True)
class ToyTranslation(FromToy):
    """The sentences of the documents of data=toy, each with its translation into a second toy language, see
    docs/toy-language.md. Short sentences occur more than once, in held-out splits too: the floor knows."""

    kind: ClassVar[str] = "pairs"
    parts: ClassVar[int] = 2

    tokens: tuple[int, int, int] = (1_000_000, 20_000, 20_000)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.surfaces = second().surfaces

    def made(self, split: str, words: int | None = None) -> Iterator[Documents]:
        """The pairs of a split, some thousands at a time; `words` are those of the sources."""
        index, start = SPLITS.index(split), 0
        for documents in self.stream(split, words):
            yield translate(documents, self.generator.draws(index, start, documents))
            start += len(documents.offsets) - 1
