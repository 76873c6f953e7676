"""The user's own sentence pairs."""

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, ClassVar

from zoo.data import files
from zoo.data.document import Document, lines
from zoo.data.source import Source, sources
from zoo.errors import UserError
from zoo.number import counted


@sources.register("pairs")
class Pairs(Source):
    """One pair a line: a file of `source<TAB>target` lines; or, with `target_path`, two files aligned by line.

    Line ends separate pairs and are no part of them. Pairs with an empty side are left out and counted. Pairs with the
    same source always stand in the same split.

    paper: none
    """

    kind: ClassVar[str] = "pairs"
    parts: ClassVar[int] = 2
    line_end_rule: ClassVar[str] = "separate pairs and are no part of them"

    def __init__(
        self,
        *,
        path: str,
        target_path: str | None = None,
        encoding: str = "utf-8",
        split: tuple[float, float, float] = (0.8, 0.1, 0.1),
    ):
        super().__init__(split)
        self.given = {"data.path": path}
        if target_path is not None:
            self.given["data.target_path"] = target_path
        self.encoding = encoding
        self.files = [files.one(value, key) for key, value in self.given.items()]
        files.check_encoding(encoding)

    def documents(self) -> Iterator[Document]:
        """The source, then the target of each pair. Raises UserError with file and line of what is no pair."""
        read = [lines(files.document(file, self.encoding).pieces()) for file in self.files]
        pairs = self._aligned(*read) if len(read) > 1 else self._tabbed(read[0])
        for number, sides in enumerate(pairs, start=1):
            for file, side in zip((self.files[0], self.files[-1]), sides, strict=True):
                yield Document(f"{file}, line {number}", lambda side=side: [side])  # type: ignore[misc]

    def stamp(self) -> str | None:
        """Path, size and times of the files."""
        return files.stamp(self.files)

    def describe(self) -> dict[str, Any]:
        """The paths and what was found there."""
        paths = [{"given": path, "resolved": str(files.resolve(path))} for path in self.given.values()]
        return {"paths": paths, "files": len(self.files), "encoding": self.encoding}

    def _tabbed(self, rows: Iterator[bytes]) -> Iterator[tuple[bytes, bytes]]:
        for number, row in enumerate(rows, start=1):
            fields = row.split(b"\t") if row else [b"", b""]
            if len(fields) != 2:
                raise UserError(
                    f"{self.files[0]}, line {number} has {counted(len(fields), 'column')}; a pair is source<TAB>target"
                    " (cut other columns off, or give two files with data.target_path)"
                )
            yield fields[0], fields[1]

    def _aligned(self, sources: Iterator[bytes], targets: Iterator[bytes]) -> Iterator[tuple[bytes, bytes]]:
        for number, (source, target) in enumerate(zip_longest(sources, targets), start=1):
            if source is None or target is None:
                short = self.files[0 if source is None else 1]
                raise UserError(f"{short} has only {number - 1} lines; data.path and data.target_path must be aligned")
            yield source, target
