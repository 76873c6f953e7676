"""The hash of a text, noted beside the built corpora, so that files that did not change are not read again."""

import os
from pathlib import Path

from zoo.code import origin
from zoo.data.building.cache import FORMAT, digest
from zoo.data.source import Source
from zoo.option import Option


class Known:
    """The note for a source as it stands now: its class, all values of its option, and its stamp name the file. Two
    sources that read the same files are two notes; a source without a stamp has none."""

    def __init__(self, root: Path, option: Option, source: Source):
        stamp = source.stamp()
        facts = [FORMAT, origin(type(source)), dict(option.values), stamp]
        self.file = None if stamp is None else root / f"{digest(facts)}.content"

    def content(self) -> str | None:
        """The hash that was noted, if any."""
        try:
            return self.file.read_text() if self.file else None
        except OSError:
            return None

    def note(self, content: str) -> None:
        """Note the hash; a cache that cannot be written is no error here."""
        if self.file and self.content() != content:
            part = self.file.with_suffix(f".{os.getpid()}")
            try:
                part.write_text(content)
                part.replace(self.file)
            except OSError:
                part.unlink(missing_ok=True)
