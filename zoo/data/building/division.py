"""The documents of each split, piece by piece."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from zoo.data.building.scan import Scan
from zoo.data.document import Document, character_start
from zoo.data.source import Source
from zoo.data.split import SPLITS, assign, blocks
from zoo.errors import UserError


class Division:
    """Several documents are divided by document, equal ones together; one document into contiguous blocks, cut between
    characters. Raises UserError when a split that has a share would be empty."""

    def __init__(self, source: Source, scan: Scan, room: Path):
        self.source = source
        self.several = source.parts > 1 or len(scan.records) > 1
        self.repeated = 0
        if self.several:
            self._labels, different = assign(scan.records, scan.count, source.split, room)
            self.repeated = len(scan.records) - different
        else:
            self._only = int(next(scan.records.chunks())["number"][0])
            self._borders = self._cut(scan.bytes)

    @property
    def names(self) -> list[str]:
        """The splits that have a share."""
        return [name for name, share in zip(SPLITS, self.source.split, strict=True) if share > 0]

    def documents(self, split: str) -> Iterator[Iterable[bytes]]:
        """The documents of a split, each as its pieces."""
        index = SPLITS.index(split)
        if not self.several:
            yield _clip(self._document().pieces(), self._borders[index], self._borders[index + 1])
            return
        for i, document in enumerate(self.source.documents()):
            if self._labels[i // self.source.parts] == index:
                yield document.pieces()

    def pieces(self, split: str) -> Iterator[bytes]:
        """All pieces of a split."""
        for document in self.documents(split):
            yield from document

    def _document(self) -> Document:
        return next(document for i, document in enumerate(self.source.documents()) if i == self._only)

    def _cut(self, size: int) -> list[int]:
        borders = [_character_border(self._document(), border, size) for border in blocks(size, self.source.split)]
        for i, (name, share) in enumerate(zip(SPLITS, self.source.split, strict=True)):
            if share > 0 and borders[i] == borders[i + 1]:
                raise UserError(
                    f"the corpus of {size} bytes is too small for data.split={list(self.source.split)}: {name} would"
                    " be empty; use more text, or set that share to 0"
                )
        return borders


def _character_border(document: Document, border: int, size: int) -> int:
    """The border, moved back between two characters."""
    if border in (0, size):
        return border
    done = 0
    for piece in document.pieces():
        if border < done + len(piece):
            return done + character_start(piece, border - done)
        done += len(piece)
    raise UserError(f"{document.name} changed while it was read; start again")


def _clip(pieces: Iterable[bytes], start: int, stop: int) -> Iterator[bytes]:
    """The bytes from `start` to before `stop`."""
    done = 0
    for piece in pieces:
        if done >= stop:
            return
        part = piece[max(start - done, 0) : stop - done]
        if part:
            yield part
        done += len(piece)
