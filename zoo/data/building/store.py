"""Token files: raw little-endian numbers on disk, memory-mapped when read."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int64

from zoo.data.tokenizer import Tokenizer
from zoo.errors import UserError

NOTES: dict[str, np.dtype[Any]] = {
    "floor": np.dtype("<f4"),
    "skill": np.dtype("u1"),
    "distance": np.dtype("<u4"),
    "width": np.dtype("<u2"),
}
"""What is known about each token of a generated corpus: see `zoo.data.building.tokens.Tokens`."""
DTYPES: dict[str, np.dtype[Any]] = {"uint16": np.dtype("<u2"), "uint32": np.dtype("<u4")}

OFFSETS = np.dtype("<i8")


@dataclass(frozen=True)
class Split:
    """One part of a corpus: its tokens (any unsigned dtype, on disk) and where its documents begin and end."""

    name: str
    tokens: np.ndarray
    offsets: Int64[np.ndarray, "N1"]
    """Document n is tokens[offsets[n] : offsets[n + 1]]; in pairs, documents 2i and 2i + 1 are source and target."""
    bytes: int
    """The size of the text."""
    several: bool
    """Whether the corpus (not only this split) has several documents."""
    bytes_unknown: str | None
    """Why bits per byte cannot be given; None when the bytes of the tokens sum to the bytes of the text."""
    notes: Mapping[str, np.ndarray] | None = None
    """One array for each of `NOTES`, as long as the tokens; None but for held-out splits of generated corpora."""


def dtype_for(vocabulary: int) -> str:
    """The smallest dtype that holds every id."""
    return "uint16" if vocabulary <= 1 << 16 else "uint32"


def write_split(
    folder: Path, name: str, documents: Iterable[Iterable[bytes]], tokenizer: Tokenizer, end_marks: bool
) -> dict[str, Any]:
    """Encode the documents of a split into `folder`; returns its facts, without which it cannot be read."""
    dtype = dtype_for(tokenizer.vocabulary)
    lengths, end = tokenizer.byte_lengths, np.array([tokenizer.special.end])
    size = counted = unknown = tokens = count = 0
    with (folder / f"{name}.tokens").open("wb") as handle, (folder / f"{name}.offsets").open("wb") as borders:
        borders.write(_offset(0))
        for document in documents:
            for piece in document:
                ids = tokenizer.encode(piece)
                handle.write(ids.astype(DTYPES[dtype]).tobytes())
                found = lengths[ids]
                size += len(piece)
                tokens += len(ids)
                counted += int(found.sum())
                unknown += int((found < 0).sum())
            if end_marks:
                handle.write(end.astype(DTYPES[dtype]).tobytes())
                tokens += 1
            borders.write(_offset(tokens))
            count += 1
    return {
        "dtype": dtype,
        "tokens": tokens,
        "documents": count,
        "bytes": size,
        "bytes_unknown": bytes_unknown(name, size, counted, unknown),
    }


def _offset(place: int) -> bytes:
    return place.to_bytes(OFFSETS.itemsize, "little")


def read_split(folder: Path, name: str, facts: dict[str, Any], vocabulary: int, several: bool) -> Split:
    """Map a split that was written with those facts. Raises UserError when the files are not what the facts say."""
    if facts["dtype"] != dtype_for(vocabulary):
        raise UserError(f"{folder}: {name} is stored as {facts['dtype']}, a vocabulary of {vocabulary} is not")
    tokens = _map(folder / f"{name}.tokens", DTYPES[facts["dtype"]], facts["tokens"])
    offsets = _map(folder / f"{name}.offsets", OFFSETS, facts["documents"] + 1)
    if offsets[0] != 0 or offsets[-1] != facts["tokens"]:
        raise UserError(f"{folder}: the documents of {name} do not end where its tokens end")
    notes = None
    if facts.get("notes"):
        notes = {key: _map(folder / f"{name}.{key}", dtype, facts["tokens"]) for key, dtype in NOTES.items()}
    return Split(name, tokens, offsets, facts["bytes"], several, facts["bytes_unknown"], notes)


def _map(file: Path, dtype: np.dtype[Any], length: int) -> np.ndarray:
    size = file.stat().st_size
    if size != length * dtype.itemsize or not length:
        raise UserError(f"{file} has {size} bytes instead of {length * dtype.itemsize}")
    return np.asarray(np.memmap(file, dtype=dtype, mode="r"))


def file_digests(folder: Path) -> dict[str, str]:
    """The SHA-256 of each file of a built corpus by its name, but for the facts, which hold them."""
    files = [file for file in sorted(folder.iterdir()) if file.name != "meta.json" and not file.name.startswith(".")]
    return {file.name: _digest(file) for file in files}


def _digest(file: Path) -> str:
    with file.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def bytes_unknown(name: str, size: int, counted: int, unknown: int) -> str | None:
    """Why bits per byte cannot be given for a text of `size` bytes whose tokens stand for `counted`; or None."""
    if unknown:
        return f"{unknown} characters of {name} are not in the tokenizer's alphabet"
    return None if counted == size else f"the tokens of {name} stand for {counted} bytes, the text has {size}"
