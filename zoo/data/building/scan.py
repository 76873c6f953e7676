"""One reading of a whole source, before anything is decided: how much it is, what is in it, what is wrong with it."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zoo.data.document import BYTE_ORDER_MARK, Document
from zoo.data.sorting import Sorter
from zoo.data.source import Source
from zoo.errors import UserError


@dataclass(frozen=True)
class Scan:
    """What a reading found. A record is a document, or the two documents of a pair."""

    content: str
    """Hash of all the text, in order."""
    records: Sorter
    """Each record with its number, its bytes, and as its key a hash of its document, or of its source: what has one key
    must not be split. Those of which a document is empty are left out."""
    count: int
    """How many records there are, those that are left out too."""
    bytes: int
    """Of the records that are not left out."""
    line_ends: dict[str, int]
    not_utf8: str | None
    """The first place that is not UTF-8."""

    def facts(self) -> dict[str, Any]:
        """The reading for the data summary."""
        return {
            "content": self.content,
            "bytes": self.bytes,
            "documents": len(self.records),
            "empty_documents_left_out": self.count - len(self.records),
            "line_ends": self.line_ends,
        }


@dataclass
class _Reading:
    line_ends: dict[str, int] = field(default_factory=lambda: {"LF": 0, "CRLF": 0, "CR": 0})
    not_utf8: str | None = None

    def digest(self, document: Document) -> tuple[bytes, int]:
        """The hash and the size of a document, which is read once."""
        sha, size = hashlib.sha256(), 0
        for piece in document.pieces():
            sha.update(piece)
            self._count_line_ends(piece)
            self._check_utf8(document, size, piece)
            size += len(piece)
        return sha.digest(), size

    def _count_line_ends(self, piece: bytes) -> None:
        both = piece.count(b"\r\n")  # a CRLF is never cut in two, see `cut`
        self.line_ends["CRLF"] += both
        self.line_ends["LF"] += piece.count(b"\n") - both
        self.line_ends["CR"] += piece.count(b"\r") - both

    def _check_utf8(self, document: Document, before: int, piece: bytes) -> None:
        if self.not_utf8 is None:
            try:
                piece.decode("utf-8")
            except UnicodeDecodeError as error:
                place = before + error.start + _mark_length(document)
                self.not_utf8 = f"{document.name}, byte {place}"


def scan(source: Source, room: Path) -> Scan:
    """Read every document once; `room` is a folder for what memory may not hold. Raises UserError when there is no text
    in them, OSError when there is no room."""
    records, reading, content = Sorter(room), _Reading(), hashlib.sha256()
    parts: list[tuple[bytes, int]] = []
    count = total = 0
    for document in source.documents():
        parts.append(reading.digest(document))
        content.update(parts[-1][0])
        if len(parts) == source.parts:
            if all(size for _, size in parts):
                size = sum(size for _, size in parts)
                records.add(int.from_bytes(parts[0][0][:8], "little"), count, size)
                total += size
            count += 1
            parts.clear()
    if not len(records):
        raise UserError(f"the corpus is empty: {_places(source)} has no text in it; set data.path to a file that has")
    return Scan(content.hexdigest(), records, count, total, reading.line_ends, reading.not_utf8)


def _places(source: Source) -> str:
    paths: Iterable[dict[str, str]] = source.describe().get("paths", [])
    return " and ".join(f"'{path['given']}'" for path in paths) or type(source).__name__


def _mark_length(document: Document) -> int:
    head = next(iter(document.read()), b"")[:3]
    return len(head) if head == BYTE_ORDER_MARK else 0
