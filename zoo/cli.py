"""What the commands share: errors as one sentence and an exit code. Imports nothing heavy.

Exit codes: 0 all is well, 1 a run failed, 2 bad input, 130 interrupted. Only `run` turns an error into one of them.
"""

import errno
import io
import os
import re
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import partial, wraps
from typing import Any

from zoo import sweep
from zoo.command.flags import refuse_unknown_flags
from zoo.command.hydra_errors import refusal
from zoo.command.words import in_home, refuse_absent_folders, refuse_two_values
from zoo.errors import RunFailed, UserError
from zoo.interruption import interruption, lost_then
from zoo.literal import quote_texts
from zoo.plugins import find_plugins_here

_raised: list[BaseException] = []
"""What the single job of this process raised: kept from Hydra, which would print about it, and handed on to `run`."""

DISK = frozenset(
    {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EFBIG, errno.ENOENT, errno.ENOTDIR, errno.EIO}
)
"""How a disk refuses."""


COMPLETION = frozenset({"-sc", "--shell-completion"})
"""The flags by which a shell asks Hydra for the words that may come next."""


def job(function: Callable[[Any], Any]) -> Callable[[Any], None]:
    """Around the body of a Hydra command. What it raises reaches `run`; in a sweep the other jobs go on."""

    @wraps(function)
    def call(config: Any) -> None:
        if sweep.folder() is not None:
            sweep.one_of_many(function, config)
            return
        try:
            function(config)
        except BaseException as error:
            _raised.append(error)

    return call


def run(main: Callable[[], Any], command: str | None = None) -> None:
    """Run a command; what goes wrong is told as one sentence, in the words of this project. With the name of a
    `command`, which is that of its file in `conf/`, `--help` is answered here and unknown flags are refused."""
    os.environ.setdefault("HYDRA_FULL_ERROR", "1")  # Hydra hands its errors on instead of printing them
    _open_outputs()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal that lacks a character shows a mark in its place
    sys.argv[1:] = words = in_home(quote_texts(sys.argv[1:]))
    find_plugins_here()
    sweep.forget()
    _raised.clear()
    if command is not None and {"--help", "-h"} & set(sys.argv):
        main = partial(_print_help, command)
    elif COMPLETION & set(words) and any(word.startswith("query=") for word in words):
        main = partial(_complete, main)
    try:
        try:
            refuse_two_values(words)
            refuse_absent_folders(words)
            if command is not None:
                refuse_unknown_flags(words, command)
            main()
            if _raised:
                raise _raised.pop()
        finally:
            code = sweep.report()
        sys.stdout.flush()
    except BrokenPipeError:  # as in `python -m zoo | head`
        _discard_output()
        raise SystemExit(1) from None
    except (Exception, KeyboardInterrupt) as error:
        stopped = interruption(error)
        _fail(stopped or error, command or "train", lost_then(error) if stopped else "")
    if code:
        raise SystemExit(code)


def _open_outputs() -> None:
    """Where the shell closed an output, what is told goes nowhere, and no file gets its number."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)
    sys.stdout = sys.stdout or io.StringIO()
    sys.stderr = sys.stderr or io.StringIO()


def _print_help(command: str) -> None:
    from zoo.command.help import help_text

    print(help_text(command, sys.argv[1:]), end="")


def _complete(main: Callable[[], Any]) -> None:
    """Shell completion, without the files that only others build on (`_base`)."""
    said = io.StringIO()
    with redirect_stdout(said):
        main()
    print(*(word for word in said.getvalue().split() if not re.match("[^=]*[=/]_", word)))


def _fail(error: BaseException, command: str, beside: str = "") -> None:
    """Say what was wrong, and what else went wrong `beside` an interruption, and exit; an error that is no one's fault
    but ours goes on as it is."""
    match error:
        case UserError():
            message, code = f"error: {error}", 2
        case _ if refused := refusal(error, command, sys.argv[1:]):
            message, code = f"error: {refused}", 2
        case RunFailed():
            message, code = f"error: {error}", 1
        case KeyboardInterrupt():
            message, code = f"{str(error) or 'interrupted'}{beside}", 130
        case OSError() if error.errno in DISK:
            where = f" ({error.filename})" if error.filename else ""
            message, code = f"error: {error.strerror}{where}; nothing can be written there", 2
            _discard_output()
        case _:
            raise error
    print(message, file=sys.stderr)
    raise SystemExit(code) from None


def _discard_output() -> None:
    """What could not be written to standard output is not tried again when Python ends."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
