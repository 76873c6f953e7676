"""Ctrl-C, also before there is anything that would catch it: imports alone take some tenths of a second."""

import sys
from types import TracebackType

from zoo.errors import UserError


def interruption(error: BaseException | None) -> KeyboardInterrupt | None:
    """The Ctrl-C that led to an error, as where it came while a config was put together."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error


def lost_then(error: BaseException) -> str:
    """What could not be written while a Ctrl-C was handled, to be told beside it; empty for any other error, which an
    interruption leaves behind where it comes."""
    written = isinstance(error, UserError) and isinstance(error.__cause__, OSError)
    return f"; {error}" if written else ""


def end_quietly() -> None:
    """From here on a Ctrl-C that nobody catches ends this process in one word, not in a traceback."""
    sys.excepthook = _tell


def _tell(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if interruption(error) is None:
        sys.__excepthook__(kind, error, trace)
        return
    print("interrupted", file=sys.stderr)
    raise SystemExit(130)
