"""Tables and trees on a terminal; lines without padding, whole unless asked otherwise, in a pipe or a file."""

import json
import sys
from typing import Any

from rich.console import Console, RenderableType

WIDE, NARROW = 1000, 120
"""Characters of a line where there is no terminal: so many that nothing is wrapped, or as many as a page shows."""


def show_json(value: Any) -> None:
    """Print a value as JSON. Where the output lacks a letter of it, those beyond ASCII are escapes, which every reader
    of JSON understands."""
    text = json.dumps(value, indent=1, ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value, indent=1)
    print(text)


def on_terminal() -> bool:
    """Whether what is printed is read on a terminal, and so has to fit its width."""
    return Console().is_terminal


def show(*parts: RenderableType, width: int = WIDE) -> None:
    """Print each part. On a terminal it is fitted to its width, elsewhere to `width`, without padding."""
    if on_terminal():
        console = Console()
        for part in parts:
            console.print(part, highlight=False)
        return
    plain = Console(width=width, no_color=True, force_terminal=False)
    for part in parts:
        with plain.capture() as captured:
            plain.print(part, highlight=False)
        sys.stdout.writelines(f"{line.rstrip()}\n" for line in captured.get().splitlines())
