"""Do verdicts hold what they promise? One and the same model under two names must be called different in at most 5 % of
tables, and a difference of the size that the report calls detectable must be found in 80 %.

    python benchmarks/calibration.py                    on simulated losses, about a minute
    python benchmarks/calibration.py runs=.cache/calibration repetitions=20      trains 16 tiny runs for each as well

Two runs of one seed are the same to the bit, so real repetitions pair run i with run i + 8 of another seed: all that
seeds do is noise here, and nothing is a difference.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np

from zoo.study.evidence import Evidence
from zoo.study.question import Job, Question, Variant
from zoo.study.run import Run, read_run
from zoo.study.statistics import detectable
from zoo.study.verdict import Row, judge

Noise = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]

NOISES: dict[str, Noise] = {
    "normal": lambda random, shape: random.standard_normal(shape),
    "skewed (lognormal)": lambda random, shape: (random.lognormal(0, 0.7, shape) - np.exp(0.245)) / 1.015,
    "long tails (t, 3 df)": lambda random, shape: random.standard_t(3, shape) / np.sqrt(3),
}
"""Noise of one run, of about unit spread; that of a pair is √2 of it."""

DRAWN = 2000
"""Tables that are drawn from the real runs."""

TINY = (
    "data=toy",
    "data.tokens=[20000,4000,4000]",
    "tokenizer=words",
    "model/size=tiny",
    "model.d_model=16",
    "budget.steps=40",
    "budget.batch_size=4",
    "budget.context=32",
    "budget.evaluate_batches=4",
    "budget.evaluate_every=40",
    "optimizer=adamw",
    "optimizer.lr=0.01",
    "runtime.threads=1",
)


def table(losses: np.ndarray) -> list[Row]:
    """The verdicts on losses [variant, seed]: each variant but the first against the first."""
    names = [f"v{place}" for place in range(len(losses))]
    jobs = [Job(0, name, {}, seed, ()) for name in names for seed in range(losses.shape[1])]
    question = Question(
        name="calibration",
        question="",
        reference=names[0],
        variants=tuple(map(Variant, names)),
        jobs=tuple(jobs),
        seeds=tuple(range(losses.shape[1])),
    )
    accepted = {
        name: {seed: _run(name, seed, float(loss)) for seed, loss in enumerate(row)}
        for name, row in zip(names, losses, strict=True)
    }
    runs = tuple(run for one in accepted.values() for run in one.values())
    evidence = Evidence(Path(), question, runs, {}, accepted, (), None)
    return judge(evidence, [(name, names[0]) for name in names[1:]])


def _run(name: str, seed: int, loss: float) -> Run:
    return Run(job=0, variant=name, tuning={}, seed=seed, overrides=(), state="done", scores={"test": {"loss": loss}})


def said_different(rows: Sequence[Row]) -> bool:
    """Whether any row of the table claims something."""
    return any(row.verdict in ("better", "worse") for row in rows)


def rate(hits: Sequence[bool]) -> str:
    """A share with its standard error."""
    share = float(np.mean(hits))
    return f"{share:7.2%} ± {np.sqrt(share * (1 - share) / len(hits)):.2%}  of {len(hits):,}"


def simulated(repetitions: int = 2000) -> None:
    """A/A tables and planted differences under three kinds of noise."""
    for name, noise in NOISES.items():
        for seeds, rows in ((8, 1), (8, 6), (16, 6)):
            random = np.random.default_rng([seeds, rows])
            hits, found = [], []
            planted = detectable(seeds, rows) * np.sqrt(2)
            for _ in range(repetitions):
                losses = noise(random, (rows + 1, seeds))
                hits.append(said_different(table(losses)))
                losses[1] -= planted
                found.append(table(losses)[0].verdict == "better")
            print(f"simulated  {name:22} {seeds:3} seeds {rows:2} rows   A/A different {rate(hits)}", flush=True)
            print(f"           {'':22} {planted / np.sqrt(2):5.2f} sd planted      found {rate(found)}", flush=True)


def trained(folder: Path, count: int) -> Iterator[float]:
    """Test losses of tiny runs with the seeds 0, 1, … (runs that are there already are not repeated)."""
    from zoo.command.compose import compose
    from zoo.jobs.train import train

    for seed in range(count):
        words = [*TINY, f"seed={seed}", f"out={folder}"]
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            place = train(compose(words), {"model": "modern", "data": "toy"}, words)
        loss = read_run(Job(0, "", {}, seed, ()), place, {}, 1).value("test loss")
        assert loss is not None, f"{place} is not done"
        yield loss


def real(folder: Path, repetitions: int, seeds: int = 8) -> None:
    """A/A tables of real runs, each run used once; then many tables of pairs drawn from all of them."""
    losses = np.array(list(trained(folder, 2 * seeds * repetitions))).reshape(repetitions, 2, seeds)
    rows = [table(one)[0] for one in losses]
    print(f"real       {losses.size} runs, test loss {losses.mean():.4f} ± {losses.std(ddof=1):.4f} (sd over seeds)")
    hits = [said_different([row]) for row in rows]
    print(f"           {repetitions} A/A studies of {seeds} pairs      different {rate(hits)}")
    differences = np.array([row.difference.mean for row in rows if row.difference])
    print(f"           mean differences from {differences.min():+.4f} to {differences.max():+.4f}")
    first, second = losses[:, 0].ravel(), losses[:, 1].ravel()
    spread = float((first - second).std(ddof=1))
    random = np.random.default_rng(0)
    for count in (1, 6):
        hits, found = [], []
        for _ in range(DRAWN):
            drawn = [random.choice(losses.ravel(), seeds, replace=False) for _ in range(count + 1)]
            hits.append(said_different(table(np.stack(drawn))))
            drawn[1] = drawn[1] - detectable(seeds, count) * spread
            found.append(table(np.stack(drawn))[0].verdict == "better")
        print(f"           drawn from them, {count} rows           A/A different {rate(hits)}")
        print(
            f"           {detectable(seeds, count) * spread:.4f} nats planted              found {rate(found)}",
            flush=True,
        )


if __name__ == "__main__":
    given = dict(word.split("=", 1) for word in sys.argv[1:])
    simulated(int(given.get("simulated", 2000)))
    if "runs" in given:
        real(Path(given["runs"]), int(given.get("repetitions", 20)))
