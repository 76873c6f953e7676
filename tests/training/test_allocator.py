"""The memory of a large tensor that is gone stays with the process."""

import platform
import subprocess
import sys

import pytest

from zoo.training import allocator

STAYS = """
import sys
from pathlib import Path
import torch
from zoo.training.allocator import keep_large_blocks

def held():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

if sys.argv[1] == "kept":
    assert keep_large_blocks()
before = held()
torch.ones(50_000_000)  # 200 MB
print(held() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library is not glibc")
def test_the_memory_of_a_large_tensor_stays_with_the_process() -> None:
    as_it_comes, kept = (
        int(subprocess.run([sys.executable, "-c", STAYS, how], capture_output=True, check=True, text=True).stdout)
        for how in ("as it comes", "kept")
    )
    assert as_it_comes < 20_000_000, "the library keeps such blocks by itself: the setting is not needed any more"
    assert kept > 180_000_000


@pytest.mark.parametrize(("most", "kept"), [(2**31 - 1, 2**31 - 1), (2**25, 2**25), (0, None)])
def test_trimming_is_set_only_where_blocks_are_kept_and_after_it(most: int, kept: int | None) -> None:
    said = []

    def mallopt(what: int, size: int) -> int:
        taken = what == allocator.M_TRIM_THRESHOLD or size <= most
        if taken:
            said.append((what, size))
        return int(taken)

    assert allocator._keep(mallopt) == (kept is not None)
    both = [(allocator.M_MMAP_THRESHOLD, kept), (allocator.M_TRIM_THRESHOLD, 2**31 - 1)]
    assert said == ([] if kept is None else both)
