"""Ctrl-C, also before there is anything that would catch it: imports alone take some tenths of a second."""

import sys
from types import TracebackType


def interruption(error: BaseException | None) -> KeyboardInterrupt | None:
    """The Ctrl-C that led to an error, as where it came while a config was put together."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error


def end_quietly() -> None:
    """From here on a Ctrl-C that nobody catches ends this process in one word, not in a traceback."""
    sys.excepthook = _tell


def _tell(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if interruption(error) is None:
        sys.__excepthook__(kind, error, trace)
        return
    print("interrupted", file=sys.stderr)
    raise SystemExit(130)
