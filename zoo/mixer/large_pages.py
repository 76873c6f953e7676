"""Memory for tensors that are read as a whole again and again."""

import math
import mmap
from contextlib import suppress

import torch
from torch import Tensor

LARGE_PAGE = 1 << 21
"""Bytes of a page of the larger kind, on most machines."""


def empty(like: Tensor, *shape: int) -> Tensor:
    """An empty tensor of that shape, with the dtype and device of `like`. In main memory a large one lies on large
    pages where there are some: far fewer are made ready while it fills, and looked up while it is read."""
    size = math.prod(shape) * like.element_size()
    if like.device.type != "cpu" or size < LARGE_PAGE or not hasattr(mmap, "MADV_HUGEPAGE"):
        return like.new_empty(shape)
    memory = mmap.mmap(-1, size + LARGE_PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    begin = -torch.frombuffer(memory, dtype=torch.uint8).data_ptr() % LARGE_PAGE  # pages before it are never touched
    with suppress(OSError):  # a kernel that has none
        memory.madvise(mmap.MADV_HUGEPAGE, begin, size // LARGE_PAGE * LARGE_PAGE)
    storage = torch.frombuffer(memory, dtype=torch.uint8, offset=begin, count=size).untyped_storage()
    return like.new_empty(0).set_(storage).view(shape)  # by an operation, so that who counts bytes sees it
