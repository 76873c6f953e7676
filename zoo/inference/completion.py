"""One continuation of a text."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from zoo.inference.reading import Reading
from zoo.inference.speculative import Guesses


@dataclass(frozen=True)
class Completion:
    """Its text without prompt and stop text, its tokens, why it ended; its seed where it was drawn, its score where it
    was looked for by a beam, the guesses where a draft made some."""

    prompt: str
    text: str
    tokens: tuple[int, ...]
    ended: str
    seed: int | None = None
    score: float | None = None
    guesses: Guesses | None = None

    @classmethod
    def of(
        cls,
        prompt: str,
        reading: Reading,
        *,
        seed: int | None = None,
        score: float | None = None,
        guesses: Guesses | None = None,
    ) -> "Completion":
        """What a finished reading says."""
        return cls(prompt, reading.text, tuple(reading.tokens), str(reading.ended), seed, score, guesses)

    def as_dict(self) -> dict[str, Any]:
        """For a file."""
        return asdict(self)


Watch = Callable[[Sequence[Reading]], None]
"""Called after every step with the readings of all rows."""


def watch_nothing(readings: Sequence[Reading]) -> None:
    """For those who wait for the end."""
