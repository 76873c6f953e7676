"""What the commands share: errors as one sentence and exit code 2, for Hydra's errors too. Imports nothing heavy."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hydra.errors import HydraException

from zoo.errors import RunFailed, UserError
from zoo.hydra_errors import translate


@contextmanager
def user_errors() -> Iterator[None]:
    """Around the body of a command: what went wrong is told as one sentence, and the exit code says of which kind it
    is: 2 bad input, 1 a run that failed, 130 an interruption."""
    try:
        yield
    except UserError as error:
        fail(str(error), 2)
    except RunFailed as error:
        fail(str(error), 1)
    except KeyboardInterrupt as error:
        fail(str(error) or "interrupted", 130)


def fail(message: str, code: int) -> None:
    """Say what was wrong and exit."""
    print(f"error: {message}" if code != 130 else message, file=sys.stderr)
    raise SystemExit(code)


def run(main: Callable[[], None]) -> None:
    """Run a Hydra command line; what Hydra refuses is said in the words of this project."""
    os.environ.setdefault("HYDRA_FULL_ERROR", "1")  # Hydra hands its errors on instead of printing them
    try:
        main()
    except HydraException as error:
        fail(translate(str(error)), 2)
