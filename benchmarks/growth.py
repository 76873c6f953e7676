"""How a training step grows with one size at a time: python benchmarks/growth.py

Prints the exponent of time, and that of the counted products, between each size and the next one, twice as large; the
fixed part of a step makes the first exponents smaller. Time that grows faster than the products would be a fault.
"""

import argparse
import math
import time
from dataclasses import replace
from itertools import pairwise

from contestants import Size, ours
from rich.console import Console
from rich.table import Table

SWEPT = {
    "width": ("causal", Size(rows=8), (64, 128, 256, 512)),
    "layers": ("causal", Size(rows=8), (2, 4, 8, 16)),
    "length": ("causal", Size(rows=4), (64, 128, 256, 512)),
    "rows": ("causal", Size(), (4, 8, 16, 32)),
    "vocabulary": ("causal", Size(rows=8), (1024, 2048, 4096, 8192)),
    "experts": ("experts", Size(rows=8), (4, 8, 16, 32)),
}


def fastest(job: str, size: Size, steps: int, threads: int) -> tuple[float, int]:
    """Seconds of the fastest of some steps, and its FLOPs."""
    run, flops = ours(job, size, ["runtime=reference", "runtime.attention=fused", f"runtime.threads={threads}"])
    seconds = []
    for _ in range(steps + 1):
        began = time.perf_counter()
        next(run)
        seconds.append(time.perf_counter() - began)
    return min(seconds[1:]), flops


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", default=list(SWEPT), choices=SWEPT)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("what grows", "values", "ms/step", "exponent of time", "exponent of products"):
        table.add_column(column)
    for name in arguments.sizes:
        job, size, values = SWEPT[name]
        found = [fastest(job, replace(size, **{name: value}), arguments.steps, arguments.threads) for value in values]
        pairs = list(pairwise(found))
        table.add_row(
            name,
            ", ".join(map(str, values)),
            ", ".join(f"{1e3 * seconds:.0f}" for seconds, _ in found),
            ", ".join(f"{math.log2(b[0] / a[0]):.2f}" for a, b in pairs),
            ", ".join(f"{math.log2(b[1] / a[1]):.2f}" for a, b in pairs),
        )
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
