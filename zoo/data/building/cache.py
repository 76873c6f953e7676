"""Built corpora on disk: found by what they were made of, written by one process, never half."""

import hashlib
import json
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from zoo.code import origin
from zoo.data.building.division import Division
from zoo.data.building.making import teach, write_made
from zoo.data.building.overlap import overlap
from zoo.data.building.scan import Scan
from zoo.data.building.store import Split, file_digests, read_split, write_split
from zoo.data.generated import Generated
from zoo.data.source import Source
from zoo.data.split import SPLITS
from zoo.data.tokenizer import Tokenizer, load_tokenizer, tokenizers
from zoo.errors import UserError
from zoo.option import Option

FORMAT = 7
"""Goes up with every change of what is stored, or of how a corpus is split or cut."""


@dataclass(frozen=True)
class Built:
    """A folder that is whole."""

    tokenizer: Tokenizer
    fingerprint: str
    summary: dict[str, Any]
    splits: Mapping[str, Split]


def key(content: str, source: Source, tokenizer: Option | Tokenizer) -> str:
    """The name of the folder for that text, source, split and tokenizer."""
    return digest(_made_of(content, source, tokenizer))


def _made_of(content: str, source: Source, tokenizer: Option | Tokenizer) -> dict[str, Any]:
    how: list[Any]
    if isinstance(tokenizer, Tokenizer):
        how = [tokenizer.fingerprint, origin(type(tokenizer))]
    else:
        how = [tokenizer.name, dict(tokenizer.values), origin(tokenizers.get(tokenizer.name))]
    facts = {"source": origin(type(source)), "kind": source.kind, "split": source.split, "tokenizer": how}
    return {"format": FORMAT, "content": content, **facts}


def read(folder: Path) -> Built | None:
    """What was built there; None when it is missing or damaged: a file that is not the one that was written, a split
    that is not there, facts of another corpus."""
    try:
        meta = json.loads((folder / "meta.json").read_text())
        if not _whole(folder, meta):
            return None
        tokenizer = load_tokenizer((folder / "tokenizer.json").read_text())
        if meta["format"] != FORMAT or meta["summary"]["tokenizer_fingerprint"] != tokenizer.fingerprint:
            return None
        splits = {
            name: read_split(folder, name, facts, tokenizer.vocabulary, meta["several"])
            for name, facts in meta["summary"]["splits"].items()
        }
        return Built(tokenizer, meta["fingerprint"], meta["summary"], splits)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, UserError, RecursionError):
        return None


def _whole(folder: Path, meta: dict[str, Any]) -> bool:
    """Whether the facts are those that were written, for this folder, with all its splits and files."""
    facts = {key: value for key, value in meta.items() if key != "seal"}
    if meta["seal"] != digest(facts) or digest(meta["made_of"]) != folder.name:
        return False
    splits = {name for name, share in zip(SPLITS, meta["made_of"]["split"], strict=True) if share}
    return splits == meta["summary"]["splits"].keys() and meta["sha256"] == file_digests(folder)


def build(folder: Path, source: Source, scan: Scan | None, tokenizer: Option | Tokenizer) -> None:
    """Write the folder under another name, then rename it; a source that was not scanned is a generated one. Raises
    UserError for what is wrong with the text, OSError for the disk; neither leaves anything behind."""
    part = folder.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    try:
        trained = tokenizer if isinstance(tokenizer, Tokenizer) else tokenizers.build(tokenizer)
        learn = trained is not tokenizer
        if scan is None:
            assert isinstance(source, Generated)
            meta = _make(part, source, trained, learn)
        else:
            meta = _divide(part, source, scan, trained, learn)
        meta["made_of"] = _made_of(meta["summary"]["content"], source, tokenizer)
        meta["sha256"] = file_digests(part)
        (part / "meta.json").write_text(json.dumps({**meta, "seal": digest(meta)}, indent=1, default=repr))
        shutil.rmtree(folder, ignore_errors=True)
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def sweep_up(root: Path, but: Path) -> None:
    """Remove what killed processes left half-built of other corpora: those whose lock is free."""
    for part in root.glob("*.part"):
        folder = part.with_suffix("")
        if folder != but:
            with suppress(Timeout, OSError), FileLock(f"{folder}.lock", timeout=0):
                shutil.rmtree(part, ignore_errors=True)


def _make(folder: Path, source: Generated, trained: Tokenizer, learn: bool) -> dict[str, Any]:
    """Splits that are made one by one."""
    if learn:
        teach(source, trained)
    written = write_made(folder, source, trained)
    facts = {"content": source.content(), "bytes": sum(one["bytes"] for one in written["splits"].values())}
    facts["documents"] = sum(one["documents"] for one in written["splits"].values()) // source.parts
    return _meta(folder, source, trained, True, {**facts, "divided": "made apart", **written})


def _divide(folder: Path, source: Source, scan: Scan, trained: Tokenizer, learn: bool) -> dict[str, Any]:
    """Splits of a text that is there."""
    division = Division(source, scan, folder)
    if trained.needs_utf8 and scan.not_utf8:
        raise UserError(
            f"{scan.not_utf8} is not UTF-8; set data.encoding to what the file is (latin-1, cp1252, utf-16, ...),"
            " or use tokenizer=bytes, which takes any file"
        )
    if learn:
        trained.train(division.pieces("train"))
    end_marks = division.several and source.parts == 1
    splits = {name: write_split(folder, name, division.documents(name), trained, end_marks) for name in division.names}
    if sum(facts["bytes"] for facts in splits.values()) != scan.bytes:
        raise UserError("the files of the corpus changed while they were read; start again")
    facts = {
        **scan.facts(),
        "repeated_documents": division.repeated,
        "divided": "by document" if division.several else "into contiguous blocks",
        "splits": splits,
        "overlap": overlap(division),
    }
    return _meta(folder, source, trained, division.several, facts)


def _meta(folder: Path, source: Source, trained: Tokenizer, several: bool, facts: dict[str, Any]) -> dict[str, Any]:
    (folder / "tokenizer.json").write_text(trained.to_json())
    return {
        "format": FORMAT,
        "several": several,
        "fingerprint": digest([facts["content"], source.kind, source.split, trained.fingerprint]),
        "summary": {
            **facts,
            source.size_key: list(source.split),
            "tokenizer": trained.name,
            "vocabulary": trained.vocabulary,
            "text_ids": trained.text_ids,
            "tokenizer_fingerprint": trained.fingerprint,
        },
    }


def digest(facts: Any) -> str:
    """A name made of values; an option among them counts by its own."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True, default=repr).encode()).hexdigest()[:32]
