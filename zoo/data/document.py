"""A document: one text that is read piece by piece, so that a corpus may be larger than memory."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
PIECE = 1 << 20
"""The longest piece, in bytes."""


@dataclass(frozen=True)
class Document:
    """One text. `name` is where it stands, for messages; `read` yields its raw bytes, in chunks of any length."""

    name: str
    read: Callable[[], Iterable[bytes]]

    def pieces(self) -> Iterator[bytes]:
        """The text without a leading byte-order mark, in pieces of at most `PIECE` bytes (see `cut`)."""
        return cut(_without_mark(self.read()), PIECE)


def cut(chunks: Iterable[bytes], limit: int) -> Iterator[bytes]:
    """The same bytes in pieces of at most `limit` bytes. A piece ends at a line end where there is one, else between
    two characters of UTF-8, never inside a CRLF. The pieces depend on the bytes only, not on how they were chunked."""
    buffer = b""
    for chunk in chunks:
        buffer += chunk
        start = 0
        while len(buffer) - start > limit:
            end = start + _safe_end(buffer[start : start + limit])
            yield buffer[start:end]
            start = end
        buffer = buffer[start:]
    if buffer:
        yield buffer


def character_start(data: bytes, position: int) -> int:
    """`position`, moved back to where its UTF-8 character starts; unmoved in bytes that are not UTF-8."""
    for back in range(4):
        at = position - back
        if at < 0:
            break
        if at >= len(data) or data[at] & 0xC0 != 0x80:
            return at
    return position


def lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a text without their ends (LF, CRLF or CR)."""
    rest = b""
    for piece in pieces:
        found = (rest + piece).splitlines(keepends=True)
        rest = b"" if found[-1].endswith(b"\n") else found.pop()  # a CR may be the first half of a CRLF
        for line in found:
            yield line.rstrip(b"\r\n")
    if rest:
        yield rest.rstrip(b"\r\n")


def _safe_end(window: bytes) -> int:
    end = max(window.rfind(b"\n"), window.rfind(b"\r", 0, -1)) + 1  # not a CR at the very end: an LF may follow it
    if end:
        return end
    # Without a line end: before the last character, which may be cut off.
    return character_start(window, len(window) - 1) or len(window)


def _without_mark(chunks: Iterable[bytes]) -> Iterator[bytes]:
    head = b""
    rest = iter(chunks)
    for chunk in rest:
        head += chunk
        if len(head) >= len(BYTE_ORDER_MARK):
            break
    yield head.removeprefix(BYTE_ORDER_MARK)
    yield from rest
