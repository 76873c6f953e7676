"""The toy language translated: a generated corpus of pairs of which every probability is known."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from zoo.data.generated import Documents
from zoo.data.source import Places, sources
from zoo.data.source.toy import FromToy
from zoo.data.split import SPLITS
from zoo.data.toy.held_out import TENTHS, TRAINED, first_words, of_split, source_words
from zoo.data.toy.second import second
from zoo.data.toy.synonyms import allowed
from zoo.data.toy.translation import translate
from zoo.errors import UserError

RAREST = 1000
"""A language in which fewer documents than one in so many have a sentence for a split is too small to split."""


@sources.register("toy_translation")
@dataclass(kw_only=True)
class ToyTranslation(FromToy):
    """The sentences of the documents of data=toy, each with its translation into a second toy language, see
    docs/toy-language.md. A sentence belongs to one split by its words (`zoo.data.toy.held_out`): none is in two.

    paper: none
    """

    kind: ClassVar[str] = "pairs"
    parts: ClassVar[int] = 2

    tokens: tuple[int, int, int] = (1_000_000, 20_000, 20_000)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.surfaces = second().surfaces

    def identity(self) -> dict[str, Any]:
        """Also how sentences are held out."""
        return {**super().identity(), "tenths": list(TENTHS), "trained": list(TRAINED)}

    def allowed(self, sources: Sequence[bytes]) -> list[Places] | None:
        """Where a word has a synonym, both."""
        return allowed(sources)

    def made(self, split: str, words: int | None = None) -> Iterator[Documents]:
        """The pairs of a split, some thousands at a time; `words` are those of the sources. Raises UserError where
        the language is so small that hardly a sentence of it is held out."""
        index = SPLITS.index(split)
        left = self.tokens[index] if words is None else min(self.tokens[index], words)
        share = TENTHS[index] / sum(TENTHS)
        start, found = 0, 0
        while left > 0:
            documents = self.generator.some(index, start, int(left / share))
            pairs = of_split(translate(documents, self.generator.draws(index, start, documents)), index)
            start += len(documents.offsets) - 1
            found += len(pairs.offsets) // 2
            if found < start // RAREST:
                raise UserError(
                    f"data=toy_translation: with these settings {start} documents have {found} sentences for {split},"
                    " since each belongs to one split; allow more kinds of them, or set that size in data.tokens to 0"
                )
            kept = first_words(pairs, left)
            left -= int(source_words(kept).sum())
            yield kept
