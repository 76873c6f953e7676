"""The user's own text."""

from collections.abc import Iterator
from typing import Any

from zoo.data import files
from zoo.data.document import Document
from zoo.data.source import Source, sources


@sources.register("text")
class Text(Source):
    """A file, a folder or a glob; each file is one document.

    `encoding` is that of the files; text is handed on as UTF-8. Line ends are kept as they are; a leading byte-order
    mark is dropped. A relative path starts from the launch folder. What runs wrote below the path is left out.

    paper: none
    """

    def __init__(self, *, path: str, encoding: str = "utf-8", split: tuple[float, float, float] = (0.8, 0.1, 0.1)):
        super().__init__(split)
        self.path = path
        self.encoding = encoding
        self.found = files.find(path, "data.path")
        self.files = self.found.files
        files.check_encoding(encoding)

    def documents(self) -> Iterator[Document]:
        """One for each file, in the order of their paths."""
        return (files.document(file, self.encoding) for file in self.files)

    def stamp(self) -> str | None:
        """Path, size and times of every file."""
        return files.stamp(self.files)

    def describe(self) -> dict[str, Any]:
        """The path and what was found there."""
        left_out = {"run_folders": self.found.run_folders} if self.found.run_folders else {}
        return {
            "paths": [{"given": self.path, "resolved": str(files.resolve(self.path))}],
            "files": len(self.files),
            "encoding": self.encoding,
            **left_out,
        }
