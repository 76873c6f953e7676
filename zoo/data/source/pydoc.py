"""English prose that every Python brings along."""

import pydoc_data.topics as reference
from collections.abc import Iterator, Mapping
from typing import Any

from zoo.data.building.overlap import LONG
from zoo.data.document import Document
from zoo.data.source import Source, sources


@sources.register("pydoc")
class Pydoc(Source):
    """The language reference of Python: about 60 topics and 0.4 MB, one document a topic. Topics that are a section of
    another topic are left out, or a held-out section would also stand in train. The text differs a little between
    versions of Python; the fingerprint of the corpus says so.

    paper: none
    """

    def __init__(self, *, split: tuple[float, float, float] = (0.8, 0.1, 0.1)):
        super().__init__(split)

    def documents(self) -> Iterator[Document]:
        """The topics, sorted by name."""
        for name, text in sorted(outermost(reference.topics).items()):
            yield Document(f"pydoc topic {name}", lambda text=text: [text.encode("utf-8")])  # type: ignore[misc]

    def describe(self) -> dict[str, Any]:
        """Where the text stands."""
        return {"paths": [{"given": "pydoc_data.topics", "resolved": str(reference.__file__)}]}


def outermost(topics: Mapping[str, str]) -> dict[str, str]:
    """The topics without those whose every long line also stands in one larger topic, or in an equal one before."""
    kept: dict[str, set[str]] = {}
    for name in sorted(topics, key=lambda name: (-len(topics[name]), name)):
        lines = {line for line in topics[name].splitlines() if len(line.encode()) >= LONG}
        if not any(lines <= others for others in kept.values()):
            kept[name] = lines
    return {name: topics[name] for name in kept}
