"""What this machine is good at: measured once and kept in the cache folder, so that all runs decide by the same."""

import os
import shutil
import time
from pathlib import Path
from typing import Any

import torch

from zoo.errors import UserError
from zoo.training.files import json_text, read_json, write_whole
from zoo.training.record import processor

PAYS = 1.5
"""How many times faster products in bfloat16 must be. Where there are units for them they are 2 to 16 times as fast as
float32, elsewhere half as fast: the flags of a processor do not tell which, but a measurement cannot miss it."""


def bfloat16_pays(device: torch.device, cache: Path) -> bool:
    """Whether matrix products are worth computing in bfloat16. On a CPU that knows it, the first run measures it."""
    if device.type not in ("cpu", "cuda") or emulated(device, "bfloat16"):
        return False
    if device.type == "cuda":
        return True
    speeds = _kept(cache / "machine.json", f"{processor()}, torch {torch.__version__}")
    return speeds["bfloat16"] >= PAYS * speeds["float32"]


def emulated(device: torch.device, dtype: str) -> bool:
    """Whether torch has no products for that dtype on this device and makes them by a loop: on a CPU a tenth as fast as
    in float32, and less. Of devices that are neither CPU nor CUDA nothing is known."""
    if device.type == "cuda":
        return dtype == "bfloat16" and not torch.cuda.is_bf16_supported(including_emulation=False)
    if device.type != "cpu" or dtype == "float32":
        return False
    if not torch.backends.mkldnn.is_available():
        return True
    known = torch.ops.mkldnn
    supported = {"bfloat16": known._is_mkldnn_bf16_supported, "float16": known._is_mkldnn_fp16_supported}
    return not supported[dtype]()


def can_compile(device: torch.device) -> bool:
    """Whether there is what torch.compile makes code with: a C++ compiler, or Triton on an accelerator."""
    if device.type == "cpu":
        return any(shutil.which(name) for name in (os.environ.get("CXX", "g++"), "g++", "clang++"))
    from torch.utils._triton import has_triton

    return has_triton()


def _kept(file: Path, machine: str) -> dict[str, float]:
    """The speeds in that file, measured now where it has none for this machine. A disk that refuses changes nothing."""
    known: dict[str, Any] = {}
    try:
        known = read_json(file)
        found = known[machine]
        return {name: float(found[name]) for name in ("float32", "bfloat16")}
    except (UserError, KeyError, TypeError, ValueError):
        measured = product_speeds()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, (json_text(known | {machine: measured}, indent=1) + "\n").encode())
    except (UserError, OSError):
        pass  # the next run will measure again
    return measured


def product_speeds(width: int = 256, repeats: int = 8) -> dict[str, float]:
    """GFLOP/s of the best of a few products of (1024, width) by (width, 4 width), by dtype, taken in turns: on one
    thread by its processor time, which other work on the machine hardly changes."""
    exact = time.get_clock_info("thread_time").resolution < 1e-5
    clock = time.thread_time if exact else time.perf_counter
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    pairs = {
        str(dtype).removeprefix("torch."): (
            torch.ones(1024, width, dtype=dtype),
            torch.ones(width, 4 * width, dtype=dtype),
        )
        for dtype in (torch.float32, torch.bfloat16)
    }
    best = dict.fromkeys(pairs, float("inf"))
    for _ in range(repeats):
        for name, (a, b) in pairs.items():
            began = clock()
            a @ b
            best[name] = min(best[name], clock() - began)
    torch.set_num_threads(before)
    return {name: round(2 * 1024 * 4 * width * width / seconds / 1e9, 1) for name, seconds in best.items()}
