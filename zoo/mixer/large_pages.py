"""Memory for tensors that are read as a whole again and again."""

import math
import mmap
from contextlib import suppress
from weakref import finalize

import torch
from torch import Tensor

LARGE_PAGE = 1 << 21
"""Bytes of a page of the larger kind, on most machines."""

KEPT = 1 << 26
"""So many bytes of tensors that are gone wait for others of their size, so that the system need not clear them anew."""

_waiting: list[mmap.mmap] = []


def empty(like: Tensor, *shape: int) -> Tensor:
    """An empty tensor of that shape, with the dtype and device of `like`. In main memory a large one lies on large
    pages where there are some: far fewer are made ready while it fills, and looked up while it is read."""
    size = math.prod(shape) * like.element_size()
    if like.device.type != "cpu" or size < LARGE_PAGE or not hasattr(mmap, "MADV_HUGEPAGE"):
        return like.new_empty(shape)
    memory = _pages(size + LARGE_PAGE)
    begin = _unaligned(memory)
    view = memoryview(memory)  # what the tensor holds, and nothing else
    finalize(view, _keep, memory).atexit = False
    storage = torch.frombuffer(view, dtype=torch.uint8, offset=begin, count=size).untyped_storage()
    return like.new_empty(0).set_(storage).view(shape)  # by an operation, so that who counts bytes sees it


def _pages(size: int) -> mmap.mmap:
    """So many bytes: such as nobody needs any more, or new ones."""
    for i, memory in enumerate(_waiting):
        if len(memory) == size:
            return _waiting.pop(i)
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with suppress(OSError):  # a kernel that has none
        memory.madvise(mmap.MADV_HUGEPAGE, _unaligned(memory), (size - LARGE_PAGE) // LARGE_PAGE * LARGE_PAGE)
    return memory


def _unaligned(memory: mmap.mmap) -> int:
    """How many bytes lie before the first large page, and are never touched."""
    return -torch.frombuffer(memory, dtype=torch.uint8).data_ptr() % LARGE_PAGE


def _keep(memory: mmap.mmap) -> None:
    """Let that wait for another tensor, unless it is too large; the oldest go where there are too many."""
    if len(memory) <= KEPT:
        _waiting.append(memory)
    while sum(map(len, _waiting)) > KEPT:
        del _waiting[0]
