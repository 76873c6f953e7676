"""What torch says of itself while it compiles is for its authors."""

import io
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr


@contextmanager
def quiet() -> Iterator[None]:
    """Within, nothing is logged, warned of, or printed on standard error; where torch cannot go on, that were pages."""
    before = logging.root.manager.disable
    try:
        logging.disable()
        with warnings.catch_warnings(), redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
