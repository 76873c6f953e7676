"""How far above the floor a model stays, by its width and by how long it is trained.

    python benchmarks/gap.py                                    widths and steps as below, the rest as in train.py
    python benchmarks/gap.py --widths 32,64 --steps 500 --seeds 0,1,2 model.n_layers=3

One run for each width, number of steps and seed, found again when it has been made before; then a table of nats per
word above the floor on test, and those by skill for the largest.
"""

import argparse
import json
from typing import Any

from zoo.cli import run


def main() -> None:
    """Entry point."""
    run(_main)


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, given in (("widths", "32,64,128"), ("steps", "250,500,1000,2000"), ("seeds", "0")):
        parser.add_argument(f"--{name}", type=_numbers, default=given, metavar="N,N,…")
    parser.add_argument("overrides", nargs="*", help="of train.py")
    asked = parser.parse_intermixed_args()
    found: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for width in asked.widths:
        for steps in asked.steps:
            found[width, steps] = [_test(width, steps, seed, asked.overrides) for seed in asked.seeds]
    print(f"\n| width | parameters | {' | '.join(f'{steps} steps' for steps in asked.steps)} |")
    print("|---|---|" + "---|" * len(asked.steps))
    for width in asked.widths:
        cells = [_cell(found[width, steps]) for steps in asked.steps]
        print(f"| {width} | {found[width, asked.steps[0]][0]['parameters']:,} | {' | '.join(cells)} |")
    last = found[asked.widths[-1], asked.steps[-1]][0]["skills"]
    print("\nby skill, the last of them: " + ", ".join(f"{k} {v['loss'] - v['floor']:.3f}" for k, v in last.items()))


def _numbers(text: str) -> list[int]:
    return [int(one) for one in text.split(",")]


def _test(width: int, steps: int, seed: int, overrides: list[str]) -> dict[str, Any]:
    """The scores on test of that run."""
    from zoo.command.compose import compose
    from zoo.jobs.train import train

    words = [f"model.d_model={width}", f"budget.steps={steps}", f"budget.evaluate_every={steps}", f"seed={seed}"]
    words += overrides
    folder = train(compose(words), {"model": "gap", "data": "toy"}, words)
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    record = json.loads((folder / "record.json").read_text())
    (test,) = [line for line in lines if line["split"] == "test"]
    return {**test, "parameters": record["costs"]["parameters"]}


def _cell(runs: list[dict[str, Any]]) -> str:
    """Mean and range over the seeds."""
    gaps = [one["loss"] - one["floor"] for one in runs]
    mean = f"{sum(gaps) / len(gaps):.3f}"
    return mean if len(gaps) == 1 else f"{mean} ({min(gaps):.3f}–{max(gaps):.3f})"


if __name__ == "__main__":
    main()
