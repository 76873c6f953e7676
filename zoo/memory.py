"""What asks for more memory than there is."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from zoo.errors import UserError

REFUSED = re.compile(r"(?:tried to allocate|Unable to allocate) [\d.]+ \w+", re.IGNORECASE)
"""How torch (of the CPU and of accelerators) and NumPy say it."""


@contextmanager
def enough_memory(advice: str) -> Iterator[None]:
    """Turn an allocation that fails within the block into a UserError with the advice, such as what to make smaller.
    Of nested blocks the innermost speaks."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        asked = REFUSED.search(str(error))
        if not asked and not isinstance(error, MemoryError):
            raise
        how = f" ({asked[0].lower()})" if asked else ""
        raise UserError(f"this needs more memory than there is{how}; {advice}") from error
