"""How a training step grows with one size at a time, and a study with its runs: python benchmarks/growth.py

Prints the exponent of time, and that of the counted products, between each size and the next one, twice as large; the
fixed part of a step makes the first exponents smaller. Time that grows faster than the products would be a fault. A
study is a sweep over seeds of runs of four steps, so that all but their training is seen, and the report over it.
"""

import argparse
import math
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

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

ROOT = Path(__file__).resolve().parents[1]
RUNS = (4, 8, 16, 32)
A_RUN = (
    *("data=pydoc", "data.split=[0.98,0.01,0.01]", "model/size=tiny", "schedule.warmup=1"),
    *("budget.steps=4", "budget.batch_size=32", "budget.context=16"),
)


def fastest(job: str, size: Size, steps: int, threads: int) -> tuple[float, int]:
    """Seconds of the fastest of some steps, and its FLOPs."""
    run, flops = ours(job, size, ["runtime=reference", "runtime.attention=fused", f"runtime.threads={threads}"])
    seconds = []
    for _ in range(steps + 1):
        began = time.perf_counter()
        next(run)
        seconds.append(time.perf_counter() - began)
    return min(seconds[1:]), flops


def study(runs: int) -> tuple[float, float]:
    """Seconds of a sweep over that many seeds, and of the report over it; the corpus is there."""
    with tempfile.TemporaryDirectory() as folder:
        places = (f"cache={folder}/cache", f"out={folder}/runs")

        def seconds(*words: str) -> float:
            began = time.perf_counter()
            subprocess.run([sys.executable, *words], cwd=ROOT, check=True, capture_output=True)
            return time.perf_counter() - began

        seconds("train.py", *A_RUN, *places, "seed=1000")
        swept = seconds("train.py", "-m", *A_RUN, *places, f"seed=range({runs})")
        (found,) = Path(folder).glob("runs/sweeps/*")
        return swept, seconds("evaluate.py", f"study={found}")


def add(table: Table, name: str, values: tuple[int, ...], seconds: list[float], work: list[float]) -> None:
    """A row of the table."""
    exponents = [", ".join(f"{math.log2(b / a):.2f}" for a, b in pairwise(one)) for one in (seconds, work)]
    table.add_row(name, ", ".join(map(str, values)), ", ".join(f"{1e3 * one:.0f}" for one in seconds), *exponents)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="*", default=list(SWEPT), choices=SWEPT)
    parser.add_argument("--runs", action="store_true", help="also a study with its number of runs")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("what grows", "values", "ms", "exponent of time", "exponent of products or runs"):
        table.add_column(column)
    for name in arguments.sizes:
        job, size, values = SWEPT[name]
        found = [fastest(job, replace(size, **{name: value}), arguments.steps, arguments.threads) for value in values]
        add(table, name, values, [seconds for seconds, _ in found], [float(flops) for _, flops in found])
    if arguments.runs:
        swept, reports = zip(*map(study, RUNS), strict=True)
        for name, seconds in (("runs of a study", swept), ("runs of a report", reports)):
            add(table, name, RUNS, list(seconds), list(map(float, RUNS)))
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
