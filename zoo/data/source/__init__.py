"""Where texts come from. A source lists documents; splitting, tokenizing and storing them is the same for all.

Those that make their texts are `zoo.data.generated.Generated`: they make each split by itself.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from zoo.data.document import Document
from zoo.data.split import check_shares
from zoo.registry import Registry

Places = Sequence[Sequence[bytes]]
"""What may stand at each place of a text, the most frequent first: one of each, joined, are the text."""


class Source(ABC):
    """Contract: `documents` yields the same documents in the same order each time, without holding them in memory.

    In a source of pairs, documents 2i and 2i + 1 are the source and the target of pair i."""

    kind: ClassVar[str] = "text"
    """What its batches are: "text" or "pairs"."""
    rows: ClassVar[str] = "windows"
    """What a text is cut into: "windows" of any place, or "whole" documents, where a part of one makes no sense."""
    parts: ClassVar[int] = 1
    """How many consecutive documents belong together and stay in one split: 2 for pairs."""
    line_end_rule: ClassVar[str] = "kept as they are"
    """What becomes of LF, CRLF and CR, for the data summary."""
    size_key: ClassVar[str] = "split"
    """The key of the option that says how large the splits are."""

    def __init__(self, split: tuple[float, float, float]):
        self.split = check_shares(split)

    @abstractmethod
    def documents(self) -> Iterator[Document]:
        """Every document. Raises UserError for what cannot be read."""

    def content(self) -> str | None:
        """A hash of all the text, for a source that knows it without reading; see `zoo.data.generated`."""
        return None

    def allowed(self, sources: Sequence[bytes]) -> list[Places] | None:
        """All right translations of each of these sources, in a source of pairs that knows them; else None."""
        return None

    def stamp(self) -> str | None:
        """A cheap text that changes whenever the documents may have changed; None when only reading them tells."""
        return None

    def describe(self) -> dict[str, Any]:
        """Facts of its own for the data summary, as plain JSON: paths as given and as resolved, rules applied."""
        return {}


sources: Registry[Source] = Registry("data", Source, __name__)
