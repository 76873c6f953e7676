"""What the commands share: errors as one sentence and exit code 2, for Hydra's errors too. Imports nothing heavy."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hydra.errors import HydraException

from zoo.errors import UserError
from zoo.hydra_errors import translate


@contextmanager
def user_errors() -> Iterator[None]:
    """Around the body of a command: a UserError is printed as one sentence and ends it with exit code 2."""
    try:
        yield
    except UserError as error:
        fail(str(error))


def fail(message: str) -> None:
    """Say what was wrong and exit with code 2."""
    print(f"error: {message}", file=sys.stderr)
    raise SystemExit(2)


def run(main: Callable[[], None]) -> None:
    """Run a Hydra command line; what Hydra refuses is said in the words of this project."""
    os.environ.setdefault("HYDRA_FULL_ERROR", "1")  # Hydra hands its errors on instead of printing them
    try:
        main()
    except HydraException as error:
        fail(translate(str(error)))
