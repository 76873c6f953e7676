"""What each mixer costs when text is generated: every option file of conf/model/mixer, by turns, in one process.

    python benchmarks/mixers.py [threads=2] [prompt=1024] [new=64] [batch=8] [rounds=3] [clock=wall]
        [json=mixers.json]

Width 128, 4 layers, 4 heads (llama but for the mixer), float32, untrained weights, eager. A round measures every mixer
once after an untimed call; medians over the rounds and, for the time per token, the spread. A mixer that cannot carry a
state is left out with its reason. Where other work keeps the machine busy, `threads=1 clock=cpu` counts the processor
time of the one thread.
"""

import json
import sys
import time
from statistics import median

import torch

import zoo
from zoo.errors import UserError
from zoo.inference.latency import Latency, Plan, measure
from zoo.model import Model
from zoo.paths import CONF

GIVEN = dict(word.split("=", 1) for word in sys.argv[1:])
THREADS, PROMPT, NEW, BATCH, ROUNDS = (
    int(GIVEN.get(key, value))
    for key, value in (("threads", 2), ("prompt", 1024), ("new", 64), ("batch", 8), ("rounds", 3))
)
CLOCK = {"wall": time.perf_counter, "cpu": time.thread_time}[GIVEN.get("clock", "wall")]
PLAN = Plan(prompts=(PROMPT,), batches=(BATCH,), new_tokens=NEW, repetitions=1, warm_up=1)


def built(name: str) -> Model | None:
    """The model with that mixer; None, said aloud, where it cannot go on token by token."""
    model = zoo.build("llama", "model/size=small", f"model/mixer={name}", vocabulary=256).eval()
    model.attention = "fused"
    try:
        model.start(1, 2)
    except UserError as refused:
        print(f"{name}: {refused}")
        return None
    return model


def summary(turns: list[Latency]) -> dict[str, float]:
    """Medians over the rounds."""
    steps = [one.token_seconds.median for one in turns]
    return {
        "state_bytes": turns[0].state_bytes,
        "state_bytes_counted": turns[0].state_bytes_counted,
        "peak_bytes": turns[0].peak_bytes,
        "ttft_ms": 1e3 * median(one.first_token_seconds.median for one in turns),
        "tpot_ms": 1e3 * median(steps),
        "tpot_ms_low": 1e3 * min(steps),
        "tpot_ms_high": 1e3 * max(steps),
        "tokens_per_second": BATCH / median(steps),
    }


def main() -> None:
    torch.set_num_threads(THREADS)
    names = sorted(path.stem for path in (CONF / "model" / "mixer").glob("*.yaml"))
    models = {name: model for name in names if (model := built(name)) is not None}
    turns: dict[str, list[Latency]] = {name: [] for name in models}
    for _ in range(ROUNDS):
        for name, model in models.items():
            turns[name] += list(measure(model, PLAN, clock=CLOCK))
    found = {name: summary(own) for name, own in turns.items()}
    how = f"{THREADS} threads, {CLOCK.__name__}, torch {torch.__version__}"
    print(f"prompt {PROMPT}, {NEW} new tokens, batch {BATCH}, {how}")
    head = f"{'mixer':14}{'state KiB':>11}{'counted':>10}{'peak MiB':>10}{'TTFT ms':>10}"
    print(f"{head}{'TPOT ms':>9}{'decode tokens/s':>17}")
    for name, one in found.items():
        sizes = f"{one['state_bytes'] / 1024:11,.0f}{one['state_bytes_counted'] / 1024:10,.0f}"
        times = f"{one['peak_bytes'] / 2**20:10,.1f}{one['ttft_ms']:10,.1f}{one['tpot_ms']:9,.2f}"
        spread = f"{one['tokens_per_second']:17,.0f}   TPOT {one['tpot_ms_low']:.2f} to {one['tpot_ms_high']:.2f}"
        print(f"{name:14}{sizes}{times}{spread}")
    if "json" in GIVEN:
        with open(GIVEN["json"], "w", encoding="utf-8") as file:
            json.dump({"plan": vars(PLAN), "threads": THREADS, "mixers": found}, file, indent=1)


if __name__ == "__main__":
    main()
