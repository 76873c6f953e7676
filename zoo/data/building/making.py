"""Generated corpora on disk: tokens, and beside those of the held-out splits what is known about each token."""

import shutil
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from zoo.data.building.encoding import Encoding
from zoo.data.building.store import DTYPES, NOTES, OFFSETS, bytes_unknown, dtype_for
from zoo.data.building.tokens import Tokens
from zoo.data.generated import Documents, Generated
from zoo.data.permutation import mix
from zoo.data.scratch import scratch_file
from zoo.data.split import SPLITS
from zoo.data.tokenizer import Tokenizer
from zoo.errors import UserError

AT_ONCE = 1 << 16
"""Words that are tokenized together."""
TAUGHT = 500_000
"""The most words that a tokenizer learns from: all documents are alike."""
COMPARED = 1 << 16
"""Documents of a held-out split and of train that are compared together."""


def teach(source: Generated, tokenizer: Tokenizer) -> None:
    """Train the tokenizer on the beginning of the training split and on every word there is."""
    tokenizer.train(chain([source.glossary()], source.pieces("train", min(TAUGHT, tokenizer.enough))))


def write_made(folder: Path, source: Generated, tokenizer: Tokenizer) -> dict[str, Any]:
    """Make, encode and write every split; returns the facts of the splits, and how many held-out documents are in
    train: documents of different splits are made apart, but short ones may come out alike. Pairs go by their sources:
    many have one label or one short translation. Raises UserError for more tokens than the disk has room for."""
    _refuse_beyond_disk(folder, source)
    names = [name for name, size in zip(SPLITS, source.split, strict=True) if size]
    splits, keys, encoding = {}, {}, Encoding(source, tokenizer)
    for name in names:
        splits[name], found = _write_split(folder, name, encoding)
        keys[name] = found[:: source.parts]
    train = keys.get("train", np.empty(0, dtype=np.uint64))
    what = "documents" if source.parts == 1 else "sources"
    overlap = {name: {what: len(keys[name]), **_shared(keys[name], train)} for name in names if name != "train"}
    return {"splits": splits, "overlap": overlap}


def _refuse_beyond_disk(folder: Path, source: Generated) -> None:
    """Raise UserError when not even the ids fit, at least one for each word: the disk would be filled first."""
    least, free = 2 * sum(source.split), shutil.disk_usage(folder).free
    if least > free:
        raise UserError(
            f"data.tokens={list(source.split)} need at least {least / 2**30:,.0f} GiB of disk, and there are"
            f" {free / 2**30:,.0f} GiB free; make them fewer, make room, or set cache=<another folder>"
        )


def _shared(held_out: np.ndarray, train: np.ndarray) -> dict[str, Any]:
    found = 0
    for one in _some(held_out):
        there = np.zeros(len(one), dtype=bool)
        for other in _some(train):
            there |= np.isin(one, other)
        found += int(there.sum())
    return {"in_train": found, "share": found / len(held_out)}


def _some(keys: np.ndarray) -> Iterator[np.ndarray]:
    """The keys, some at a time."""
    return (keys[start : start + COMPARED] for start in range(0, len(keys), COMPARED))


def _write_split(folder: Path, name: str, encoding: Encoding) -> tuple[dict[str, Any], np.ndarray]:
    """The facts of a split, and a key of each of its documents."""
    noted = name != "train"  # training asks for none
    source, stored = encoding.source, dtype_for(encoding.tokenizer.vocabulary)
    count = size = total = 0
    with ExitStack() as stack:
        files = {
            key: stack.enter_context((folder / f"{name}.{key}").open("wb"))
            for key in ("tokens", "offsets", *(NOTES if noted else ()))
        }
        keys = stack.enter_context(scratch_file(folder))
        files["offsets"].write(np.zeros(1, dtype=OFFSETS).tobytes())
        for documents in _parts(source.made(name)):
            keys.write(_keys(documents).tobytes())
            tokens = Tokens(documents, encoding)
            size += tokens.bytes
            files["tokens"].write(tokens.ids.astype(DTYPES[stored]).tobytes())
            files["offsets"].write((total + tokens.offsets[1:]).astype(OFFSETS).tobytes())
            count, total = count + len(tokens.offsets) - 1, total + int(tokens.offsets[-1])
            if noted:
                for key, values in tokens.notes().items():
                    files[key].write(values.astype(NOTES[key]).tobytes())
        if not count:
            raise UserError(
                f"nothing can be made for {name} in {source.split[SPLITS.index(name)]} words with these settings; set"
                " its size in data.tokens higher, or to 0"
            )
        keys.flush()
        found = np.asarray(np.memmap(keys, dtype=np.uint64, mode="r", shape=(count,)))
    facts = {
        "dtype": stored,
        "tokens": total,
        "documents": count,
        "bytes": size,
        "bytes_unknown": bytes_unknown(name, size, size, 0),
        "notes": noted,
    }
    return facts, found


def _parts(made: Iterable[Documents]) -> Iterator[Documents]:
    for documents in made:
        yield from documents.parts(AT_ONCE)


def _keys(documents: Documents) -> np.ndarray:
    """A hash of each document: equal documents have equal ones."""
    starts = documents.offsets[:-1]
    place = np.arange(len(documents.words)) - np.repeat(starts, np.diff(documents.offsets))
    mixed = mix((place.astype(np.uint64) << np.uint64(32)) | documents.words.astype(np.uint64))
    return np.add.reduceat(mixed, starts)
