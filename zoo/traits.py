"""What an objective has to know of a topology, without knowing its name."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Traits:
    """How a topology reads."""

    generates: bool
    """Left to right: no position sees a later one, but for a prefix."""
    reads_source: bool = False
    """A source text is read by a stack of its own."""
    takes_prefix: bool = False
    """A prefix may be seen as a whole."""

    def __str__(self) -> str:
        words = ["left to right" if self.generates else "from both sides"]
        words += ["with a source"] * self.reads_source + ["with a prefix"] * self.takes_prefix
        return " ".join(words)
