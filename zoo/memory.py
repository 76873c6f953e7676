"""What asks for more memory than there is."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from zoo.errors import UserError

TOO_LARGE = re.compile(r"Storage size calculation overflowed|Overflow when unpacking long|int too big to convert", re.I)
"""How torch says that a tensor has more numbers than can be counted."""

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


@contextmanager
def countable(advice: str) -> Iterator[None]:
    """Turn a tensor of more numbers than 64 bits can count into a UserError with the advice: it has no size, not even
    where nothing is allocated."""
    try:
        yield
    except (RuntimeError, TypeError, OverflowError) as error:
        if not TOO_LARGE.search(str(error)):
            raise
        raise UserError(f"this needs a tensor that is larger than any memory could be; {advice}") from error


def total_memory(device: torch.device) -> int:
    """Bytes of memory that the device has in all, taken or not."""
    if device.type == "cuda":
        return torch.cuda.get_device_properties(device).total_memory
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def refuse_beyond(least: int, device: torch.device, what: str, advice: str) -> None:
    """Raise UserError when not even `least` bytes fit: what is out of all proportion would else be worked at for long,
    or take the memory of everything that runs beside it."""
    there = total_memory(device)
    if least > there:
        raise UserError(f"{what} at least {least / 2**30:,.0f} GiB, and there are {there / 2**30:,.0f} GiB; {advice}")
