"""The C library gives blocks of more than 32 MiB back to the system at once, and takes them anew at the next step, page
by page; told to, it keeps them."""

import ctypes
import platform
from collections.abc import Callable

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""The numbers of glibc's malloc.h."""

LARGEST = (2**31 - 1, 2**25)
"""Bytes: the most that can be said of a block, and the most before glibc 2.35."""


def keep_large_blocks() -> bool:
    """From now on, memory that this process gave free stays with it, and large tensors are cut from it. Changes no
    number. Returns whether it could be said: only to glibc, as on most Linux systems."""
    return platform.libc_ver()[0] == "glibc" and _keep(ctypes.CDLL(None).mallopt)


def _keep(mallopt: Callable[[int, int], int]) -> bool:
    # Said alone, or first, that memory is not trimmed would leave every block from 128 KiB on to be given back.
    kept = any(mallopt(M_MMAP_THRESHOLD, size) == 1 for size in LARGEST)
    return kept and mallopt(M_TRIM_THRESHOLD, LARGEST[0]) == 1
