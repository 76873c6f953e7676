"""What a study costs beside the same runs as separate commands, and beyond their training steps.

    python benchmarks/studies.py                                    the ladder with one seed
    python benchmarks/studies.py study=ffn seed=0,1 --rounds 2 --json studies.json

Each round makes the same runs three times into fresh folders, in turns: by the study as it comes (single-thread jobs
side by side), by the study one after another with all threads, and by one command after another. Corpora are built
before. A run's training is the sum over its steps; what else there is, start-up, composing, validation and scores, is
overhead.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[1]
THREADS = os.cpu_count() or 1


def command(*words: str) -> float:
    """Seconds that `python train.py` with these words takes, all told."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "train.py", *words], cwd=ROOT, check=True, capture_output=True)
    return time.perf_counter() - began


def jobs(out: Path) -> list[list[str]]:
    """The overrides of each run of the only study there, but for its share of threads."""
    (file,) = out.glob("studies/*/study.json")
    listed = json.loads(file.read_text(encoding="utf-8"))["jobs"]
    return [[word for word in job["overrides"] if not word.startswith("runtime.threads")] for job in listed]


def training(out: Path) -> float:
    """Seconds that the runs there spent in their steps."""
    status = [json.loads(file.read_text(encoding="utf-8")) for file in out.glob("*/status.json")]
    return float(sum(one["seconds"] for one in status))


def round_of(words: list[str], root: Path) -> dict[str, tuple[float, float]]:
    """Way → seconds in all, and seconds of training."""
    beside, queued, separate = (root / name for name in ("beside", "queued", "separate"))
    found = {"side by side": (command(*words, f"out={beside}"), training(beside))}
    one_by_one = ("hydra/launcher=basic", f"runtime.threads={THREADS}")
    found["one after another"] = (command(*words, *one_by_one, f"out={queued}"), training(queued))
    seconds = sum(command(*one, f"out={separate}") for one in jobs(beside))
    return found | {"separate commands": (seconds, training(separate))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="the study, and other overrides of it")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_intermixed_args()
    words = arguments.words or ["study=ladder", "seed=0"]
    with tempfile.TemporaryDirectory() as place:
        command(*words, "budget.steps=1", f"cache={place}/cache", f"out={place}/warm")
        rounds = []
        for i in range(arguments.rounds):
            rounds.append(round_of([*words, f"cache={place}/cache"], Path(place, str(i))))
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("way", "seconds", "share of separate commands", "of it training", "overhead"):
        table.add_column(column)
    for way in rounds[0]:
        seconds = [one[way][0] for one in rounds]
        shares = [one[way][0] / one["separate commands"][0] for one in rounds]
        beside = THREADS if way == "side by side" else 1
        steps = [one[way][1] / beside / one[way][0] for one in rounds]
        cells = (f"{median(seconds):.1f}", f"{median(shares):.2f}", f"{median(steps):.0%}", f"{1 - median(steps):.0%}")
        table.add_row(way, *cells)
    Console(width=120).print(table)
    if arguments.json:
        arguments.json.write_text(json.dumps(rounds), encoding="utf-8")


if __name__ == "__main__":
    main()
