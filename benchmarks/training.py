"""How fast a training step is, beside other libraries, in one run: python benchmarks/training.py --help

Every contestant lives in a process of its own; rounds go A B C A B C, so that what else the machine does hits all of
them. The table gives the median step of each, tokens a second, its share of the machine's limit (the fastest matrix
product it was seen to make in this run, in any dtype: its model FLOPs utilisation), and memory: on a CPU what comes on
top of the imported libraries, on an accelerator, which is taken where there is one, that of tensors. What is emulated
here (bfloat16 on many processors) takes hours: it is left out unless --modes asks for it.
"""

import argparse
import json
import platform
import statistics
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from contestants import PEERS, Size
from rich.console import Console
from rich.table import Table

from zoo.training.capability import emulated

WORKER = Path(__file__).with_name("worker.py")
MODES = {  # of peers: dtype, compiled
    "float32": ("float32", False),
    "float32 compiled": ("float32", True),
    "bfloat16 compiled": ("bfloat16", True),
}
OURS = {
    "reference": ["runtime=reference"],
    "eager": ["runtime.compile=false"],
    "compiled": ["runtime.compile=true"],
}


class Contestant:
    """One row of the table."""

    def __init__(self, who: str, mode: str, job: str, size: Size, arguments: argparse.Namespace):
        self.who, self.mode, self.job = who, mode, job
        machine = {"threads": arguments.threads, "device": str(arguments.device)}
        asked: dict[str, Any] = {"who": who, "job": job, "size": asdict(size), **machine}
        if who == "ours":
            asked["overrides"] = [*OURS[mode], *(f"runtime.{key}={value}" for key, value in machine.items())]
        else:
            asked["dtype"], asked["compiled"] = MODES[mode]
        self.process = subprocess.Popen(
            [sys.executable, str(WORKER), json.dumps(asked)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.seconds: list[float] = []
        self.answer: dict[str, Any] = {}

    def run(self, steps: int, *, keep: bool) -> None:
        """Make that many steps; the times of a warm-up are not kept."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"steps": steps}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.who}, {self.mode}: it ended with an error")
        self.answer = json.loads(line)
        self.seconds += self.answer["seconds"] if keep else []

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def device(name: str) -> torch.device:
    """One that is here."""
    try:
        return torch.zeros(1, device=name).device
    except (RuntimeError, AssertionError) as error:
        raise argparse.ArgumentTypeError(f"{name} cannot be used here; cpu always can") from error


def here(modes: list[str] | None, device: torch.device) -> list[str]:
    """The modes that were asked for; if none were, those whose dtype is not emulated here, and a line on the others."""
    if modes is not None:
        return modes
    slow = [mode for mode, (dtype, _) in MODES.items() if emulated(device, dtype)]
    if slow:
        print(f"left out: {', '.join(slow)}, whose dtype is emulated here and far slower; --modes asks for them")
    return [mode for mode in MODES if mode not in slow]


def products(width: int, rows: int, device: torch.device, seconds: float = 0.3) -> dict[str, float]:
    """GFLOP/s of the best of many matrix products of this width, per dtype that is not emulated."""
    best = {}
    for dtype in (torch.float32, torch.bfloat16):
        if emulated(device, str(dtype).removeprefix("torch.")):
            continue
        a, b = (torch.randn(shape, device=device).to(dtype) for shape in ((rows, width), (4 * width, width)))
        fastest, end = float("inf"), time.perf_counter() + seconds
        while time.perf_counter() < end:
            began = time.perf_counter()
            a @ b.T
            if device.type != "cpu":
                torch.accelerator.synchronize(device)
            fastest = min(fastest, time.perf_counter() - began)
        best[str(dtype).removeprefix("torch.")] = 2 * rows * 4 * width * width / fastest / 1e9
    return best


def race(job: str, size: Size, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """All contestants of a job, round by round; a result per row."""
    peers = [name for at, name in PEERS if at == job]
    entries = [("ours", mode) for mode in arguments.ours] + [(name, mode) for name in peers for mode in arguments.modes]
    rows = [Contestant(who, mode, job, size, arguments) for who, mode in entries]
    for row in rows:
        row.run(arguments.warmup, keep=False)
    limits = []
    for _ in range(arguments.rounds):
        limits.append(products(size.width, size.rows * size.length, arguments.device))
        for row in rows:
            row.run(arguments.steps, keep=True)
    limit = {dtype: max(one[dtype] for one in limits) for dtype in limits[0]}
    flops = next((row.answer["flops"] for row in rows if row.answer["flops"]), None)
    results = []
    for row in rows:
        row.close()
        median = statistics.median(row.seconds)
        quartiles = statistics.quantiles(row.seconds, n=4)
        results.append(
            {
                "job": job,
                **asdict(size),
                "who": row.who,
                "mode": row.mode,
                "ms": 1e3 * median,
                "ms_quartiles": [1e3 * quartiles[0], 1e3 * quartiles[2]],
                "tokens_per_second": size.rows * size.length * (2 if job == "translation" else 1) / median,
                "share_of_limit": flops and flops / median / 1e9 / max(limit.values()),
                "mib": row.answer["mib"],
                "limit_gflops": limit,
            }
        )
    return results


def show(results: list[dict[str, Any]]) -> None:
    """One table of all rows; `against` is the time of the fastest peer as it comes, and of the fastest at its best."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in (
        "job",
        "width",
        "who",
        "mode",
        "ms/step",
        "quartiles",
        "tokens/s",
        "limit",
        "MiB",
        "as it comes",
        "at its best",
    ):
        table.add_column(column, justify="left" if column in ("job", "who", "mode") else "right")
    for one in results:
        peers = [r for r in results if (r["job"], r["width"]) == (one["job"], one["width"]) and r["who"] != "ours"]
        plain = min((r["ms"] for r in peers if r["mode"] == "float32"), default=None)
        best = min((r["ms"] for r in peers), default=None)
        table.add_row(
            one["job"],
            str(one["width"]),
            one["who"],
            one["mode"],
            f"{one['ms']:.1f}",
            "{:.0f}–{:.0f}".format(*one["ms_quartiles"]),
            f"{one['tokens_per_second']:,.0f}",
            f"{one['share_of_limit']:.0%}" if one["share_of_limit"] else "—",
            f"{one['mib']:.0f}",
            f"{plain / one['ms']:.2f}×" if plain else "—",
            f"{best / one['ms']:.2f}×" if best else "—",
        )
    Console(width=160).print(table)
    for width, limit in {one["width"]: one["limit_gflops"] for one in results}.items():
        print(f"matrix products {width}: " + ", ".join(f"{key} {value:.0f} GFLOP/s" for key, value in limit.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", nargs="+", default=["causal"], choices=sorted({job for job, _ in PEERS}))
    parser.add_argument("--widths", nargs="+", type=int, default=[128, 256])
    parser.add_argument("--modes", nargs="*", choices=MODES, help="how the peers run")
    parser.add_argument("--ours", nargs="*", default=list(OURS), choices=OURS, help="how ours runs")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=4, help="steps of each contestant in a round")
    parser.add_argument("--warmup", type=int, default=4)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--device", type=device, default=str(torch.accelerator.current_accelerator() or "cpu"))
    parser.add_argument("--json", type=Path, default=None, help="where to save all figures")
    arguments = parser.parse_args()
    arguments.modes = here(arguments.modes, arguments.device)
    torch.set_num_threads(arguments.threads)
    results = [one for job in arguments.jobs for width in arguments.widths for one in race(job, Size(width), arguments)]
    show(results)
    if arguments.json is not None:
        machine = {"processor": platform.processor(), "torch": torch.__version__, "threads": arguments.threads}
        machine["device"] = str(arguments.device)
        text = json.dumps({"machine": machine, "command": sys.argv[1:], "rows": results}, indent=1)
        arguments.json.write_text(text + "\n")


if __name__ == "__main__":
    main()
