"""Large tensors take their memory from what the process has, not from the system anew."""

import platform
import resource
import subprocess
import sys

import pytest

FAULTS = """
import resource, sys, torch
from zoo.training.allocator import keep_large_blocks
if sys.argv[1] == "kept":
    assert keep_large_blocks()
before = 0
for turn in range(12):
    torch.ones(12_000_000)  # 48 MB
    if turn == 8:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library is not glibc")
def test_a_large_tensor_made_again_takes_no_page_from_the_system() -> None:
    pages = 3 * 48_000_000 // resource.getpagesize()
    as_it_comes, kept = (
        int(subprocess.run([sys.executable, "-c", FAULTS, how], capture_output=True, check=True, text=True).stdout)
        for how in ("as it comes", "kept")
    )
    assert as_it_comes > pages / 2, "the library keeps such blocks by itself: the setting is not needed any more"
    assert kept < pages / 50
