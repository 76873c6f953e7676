"""The toy language: a generated corpus of which every probability is known."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar

from zoo.data.generated import Documents, Generated, Line, check_sizes
from zoo.data.source import sources
from zoo.data.split import SPLITS
from zoo.data.toy.chance import lines
from zoo.data.toy.generator import VERSION, Generator
from zoo.data.toy.settings import Settings
from zoo.data.toy.skills import Skill
from zoo.data.toy.words import ID, SURFACES
from zoo.errors import UserError


@dataclass(kw_only=True)
class FromToy(Settings, Generated):
    """What all views of the toy language share: its settings, the sizes of the splits, the seed of the documents."""

    tokens: tuple[int, int, int] = (2_000_000, 50_000, 50_000)
    seed: int = 0

    skills: ClassVar[tuple[str, ...]] = tuple(skill.name.lower() for skill in Skill)
    line_end_rule: ClassVar[str] = "there are none"

    def __post_init__(self) -> None:
        self.check()
        if not 0 <= self.seed < 1 << 63:
            raise UserError(f"data.seed={self.seed} must be at least 0 and below 2^63")
        self.split = check_sizes(self.tokens)

    @cached_property
    def generator(self) -> Generator:
        """Makes the documents."""
        return Generator(self, self.seed)

    def stream(self, split: str, words: int | None) -> Iterator[Documents]:
        """The documents of the first language, as in `made`."""
        index = SPLITS.index(split)
        size = self.tokens[index]
        return self.generator.stream(index, size if words is None else min(size, words))

    def identity(self) -> dict[str, Any]:
        """The view, the version of the language, its settings and the seed."""
        settings = {field.name: getattr(self, field.name) for field in fields(Settings)}
        return {"made_by": type(self).__name__, "version": VERSION, "seed": self.seed, **settings}


@sources.register("toy")
class Toy(FromToy):
    """English-like documents, see docs/toy-language.md. A split is the first documents with that many words; each has
    random numbers of its own, keyed by (version, seed, split, number).

    paper: none
    """

    surfaces = SURFACES

    def lines(self) -> dict[str, dict[str, Line]]:
        """Of the skills whose words are certain."""
        return lines(self)

    def glossary(self) -> bytes:
        """Every word that these settings can say."""
        rows = [row for one in self.generator.situations.values() for row in one.rows]
        said = {one.word for row in rows for one in row if isinstance(one.word, str) and one.share}
        return b"".join(SURFACES[number] for number in sorted(ID[word] for word in said))

    def made(self, split: str, words: int | None = None) -> Iterator[Documents]:
        """The documents of a split, some thousands at a time."""
        return self.stream(split, words)
