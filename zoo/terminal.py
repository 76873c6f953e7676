"""Tables and trees on a terminal; whole lines, without padding, where the output is a pipe or a file."""

import sys

from rich.console import Console, RenderableType


def show(*parts: RenderableType) -> None:
    """Print each part. On a terminal it is fitted to the width; elsewhere nothing is wrapped or padded."""
    console = Console()
    if console.is_terminal:
        for part in parts:
            console.print(part, highlight=False)
        return
    plain = Console(width=1000, no_color=True, force_terminal=False)
    for part in parts:
        with plain.capture() as captured:
            plain.print(part, highlight=False)
        sys.stdout.writelines(f"{line.rstrip()}\n" for line in captured.get().splitlines())
