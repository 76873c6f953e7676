"""The text of one row while its tokens come."""

from collections.abc import Sequence

from zoo.data.tokenizer import Tokenizer
from zoo.data.tokenizer.stream import Stream


class Reading:
    """Decodes token by token and ends at the first stop text that is complete (the longest, where several end at one
    place): the text is cut before it, wherever tokens or characters begin and end. What may still become part of a
    character or of a stop text is held back, so what was shown never has to be taken back.

    marks: ids that end the row and are no text, each with its name
    """

    def __init__(self, tokenizer: Tokenizer, stops: Sequence[str], marks: dict[int, str]):
        self._stream = Stream(tokenizer)
        self._stops, self._marks = stops, marks
        self._held = ""
        self.text = ""
        self.tokens: list[int] = []
        self.ended: str | None = None
        """Why nothing more comes; None while more may come."""

    def push(self, token: int) -> bool:
        """Take in a token; whether the row ends with it."""
        if self.ended is not None:
            return True
        self.tokens.append(token)
        if token in self._marks:
            self.close(self._marks[token])
            return True
        for character in self._stream.push([token]):
            self._held += character
            if self._stopped():
                return True
        self._show(len(self._held) - self._undecided())
        return False

    def close(self, why: str = "max_new_tokens") -> None:
        """No more tokens come; a character that is not whole becomes a replacement mark."""
        if self.ended is None:
            self._held += self._stream.close()
            self._show(len(self._held))
            self.ended = why

    def _stopped(self) -> bool:
        """Whether the last character completed a stop text."""
        found = [stop for stop in self._stops if self._held.endswith(stop)]
        if found:
            self._show(len(self._held) - max(map(len, found)))
            self.ended = f"stop {max(found, key=len)!r}"
        return bool(found)

    def _undecided(self) -> int:
        """How many of the last characters may be the beginning of a stop text."""
        longest = max((len(stop) - 1 for stop in self._stops), default=0)
        for size in range(min(longest, len(self._held)), 0, -1):
            if any(stop.startswith(self._held[-size:]) for stop in self._stops if len(stop) > size):
                return size
        return 0

    def _show(self, count: int) -> None:
        self.text += self._held[:count]
        self._held = self._held[count:]
