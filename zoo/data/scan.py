"""One reading of a whole source, before anything is decided: how much it is, what is in it, what is wrong with it."""

import hashlib
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zoo.data.document import BYTE_ORDER_MARK, Document
from zoo.data.source import Source
from zoo.errors import UserError


@dataclass(frozen=True)
class Scan:
    """What a reading found. A record is a document, or the two documents of a pair."""

    content: str
    """Hash of all the text, in order."""
    keys: np.ndarray
    """For each record a hash of its document, or of its source (uint64): what has one key must not be split."""
    sizes: np.ndarray
    """For each record its bytes (int64); 0 for one to leave out because a document of it is empty."""
    line_ends: dict[str, int]
    not_utf8: str | None
    """The first place that is not UTF-8."""

    def facts(self) -> dict[str, Any]:
        """The reading for the data summary."""
        used = self.keys[self.sizes > 0]
        return {
            "content": self.content,
            "bytes": int(self.sizes.sum()),
            "documents": len(used),
            "empty_documents_left_out": int((self.sizes == 0).sum()),
            "repeated_documents": len(used) - len(np.unique(used)),
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


def scan(source: Source) -> Scan:
    """Read every document once. Raises UserError when there is no text in them."""
    keys, sizes = array("Q"), array("q")
    reading, content = _Reading(), hashlib.sha256()
    parts: list[tuple[bytes, int]] = []
    for document in source.documents():
        parts.append(reading.digest(document))
        content.update(parts[-1][0])
        if len(parts) == source.parts:
            keys.append(int.from_bytes(parts[0][0][:8], "little"))
            sizes.append(sum(size for _, size in parts) if all(size for _, size in parts) else 0)
            parts.clear()
    if not any(sizes):
        raise UserError(f"the corpus is empty: {_places(source)} has no text in it; set data.path to a file that has")
    return Scan(
        content.hexdigest(),
        np.frombuffer(keys, dtype=np.uint64),
        np.frombuffer(sizes, dtype=np.int64),
        reading.line_ends,
        reading.not_utf8,
    )


def _places(source: Source) -> str:
    paths: Iterable[dict[str, str]] = source.describe().get("paths", [])
    return " and ".join(f"'{path['given']}'" for path in paths) or type(source).__name__


def _mark_length(document: Document) -> int:
    head = next(iter(document.read()), b"")[:3]
    return len(head) if head == BYTE_ORDER_MARK else 0
