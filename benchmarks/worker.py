"""One contestant in a process of its own, so that none warms the caches or sets the allocator of another.

It reads one JSON object a line, {"steps": n}, and answers with the seconds of each of those steps and the peak memory.
Started by benchmarks/training.py: python benchmarks/worker.py '{"who": ..., "job": ..., "size": {...}, ...}'
"""

import json
import resource
import sys
import time
import warnings
from typing import Any


def _resident() -> float:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20


def main(asked: dict[str, Any]) -> None:
    """Answer until the input ends."""
    import torch
    from contestants import Size, ours, peer

    warnings.filterwarnings("ignore")
    torch.set_num_threads(asked["threads"])
    device = torch.device(asked["device"])
    size, flops = Size(**asked["size"]), None
    before = _resident()
    if asked["who"] == "ours":
        steps, flops = ours(asked["job"], size, asked["overrides"])
    else:
        dtype = getattr(torch, asked["dtype"])
        steps = peer(asked["who"], asked["job"], size, dtype, asked["compiled"], device)
    for line in sys.stdin:
        seconds = []
        for _ in range(json.loads(line)["steps"]):
            began = time.perf_counter()
            next(steps)
            if device.type != "cpu":
                torch.accelerator.synchronize(device)
            seconds.append(time.perf_counter() - began)
        if device.type == "cpu":
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10 - before
        else:
            peak = torch.accelerator.max_memory_allocated(device) / 2**20
        sys.stderr.flush()
        print(json.dumps({"seconds": seconds, "flops": flops, "mib": peak}), file=out, flush=True)


if __name__ == "__main__":
    out, sys.stdout = sys.stdout, sys.stderr  # what a library prints is no answer
    main(json.loads(sys.argv[1]))
