"""The C library gives blocks of more than 32 MiB back to the system at once, and takes them anew at the next step, page
by page; told to, it keeps them."""

import ctypes
import platform

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""The numbers of glibc's malloc.h."""

LARGEST = 2**31 - 1
"""Bytes; the most that can be said."""


def keep_large_blocks() -> bool:
    """From now on, memory that this process gave free stays with it, and large tensors are cut from it. Changes no
    number. Returns whether it could be said: only to glibc, as on most Linux systems."""
    if platform.libc_ver()[0] != "glibc":
        return False
    mallopt = ctypes.CDLL(None).mallopt
    return all(mallopt(what, LARGEST) == 1 for what in (M_TRIM_THRESHOLD, M_MMAP_THRESHOLD))
