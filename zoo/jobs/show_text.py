"""Continuations on a terminal or in a pipe, each as it comes."""

import re
import sys
from collections.abc import Sequence

from zoo.inference.completion import Completion
from zoo.inference.fill import Filled
from zoo.inference.reading import Reading
from zoo.inference.settings import Settings

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""What a terminal may take for an order."""


class Shown:
    """Prints the continuations in their order: the first that is not finished as it comes, the others when their turn
    has come. More than one are told apart by a line before each."""

    def __init__(self, prompts: Sequence[str], settings: Settings, stream: bool):
        self._prompts, self._settings, self._stream = prompts, settings, stream
        self._row = self._characters = 0
        self._begun = False

    def update(self, readings: Sequence[Reading]) -> None:
        """Print what has come since the last time."""
        while self._row < len(readings):
            reading = readings[self._row]
            if not self._stream and reading.ended is None:
                break
            if not self._begun:
                self._begin(len(readings))
            _write(reading.text[self._characters :])
            self._characters = len(reading.text)
            if reading.ended is None:
                break
            _write("\n")
            self._row, self._characters, self._begun = self._row + 1, 0, False
        sys.stdout.flush()

    def break_off(self) -> None:
        """End a line that will not be finished."""
        if self._characters:
            _write("\n")

    def show(self, completions: Sequence[Completion]) -> None:
        """Print what was not printed on its way."""
        for i, one in enumerate(completions[self._row :], self._row):
            if len(completions) > 1:
                _write(self._head(*divmod(i, self._settings.samples), f"score {one.score:.4f}"))
            _write(f"{one.text}\n")

    def _begin(self, rows: int) -> None:
        self._begun = True
        if rows > 1:
            prompt, sample = divmod(self._row, self._settings.samples)
            _write(self._head(prompt, sample, f"seed {self._settings.seed + sample}"))

    def _head(self, prompt: int, sample: int, how: str) -> str:
        of = f" of {self._prompts[prompt]!r}" if len(self._prompts) > 1 else ""
        return f"— sample {sample + 1}{of}, {how} —\n"


def show_filled(filled: Sequence[Filled]) -> None:
    """Print texts whose blanks were filled, one a line."""
    for one in filled:
        _write(f"{one.text}\n")


def _write(text: str) -> None:
    """As it is into a pipe or a file; on a terminal, what it might take for an order becomes a replacement mark."""
    sys.stdout.write(CONTROL.sub("\ufffd", text) if sys.stdout.isatty() else text)
