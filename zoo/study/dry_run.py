"""What a study would run, what that costs and how long it takes; no run is made, and no folder of one."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from omegaconf import DictConfig
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from zoo.accounting import Costs
from zoo.jobs.fresh import start_fresh
from zoo.jobs.job import HELD_OUT
from zoo.jobs.parts import Parts, build_parts
from zoo.jobs.prepared import Prepared, prepare
from zoo.matching.apply import as_words
from zoo.number import counted
from zoo.study.plan import Job, Plan
from zoo.study.variants import Variant
from zoo.terminal import show
from zoo.training.loop import fit
from zoo.training.scoring import score

STEPS = 4
"""Steps that are made to see how long one takes; the first of them is not counted."""


@dataclass(frozen=True)
class Estimate:
    """One run."""

    costs: Costs
    tokens: int
    """Positions that it trains on."""
    seconds: float
    match: str | None


def dry_run(plan: Plan, compose: Callable[[Sequence[str]], DictConfig], side_by_side: int) -> None:
    """Print a row per variant. The seconds are those of a few steps, made here and thrown away."""
    jobs = plan.first()
    jobs += plan.second({one.name: plan.study.tunings()[0] for one in plan.study.variants}, len(jobs))
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("variant", "runs", "tuned", "parameters", "FLOPs/token", "tokens", "seconds"):
        table.add_column(column, justify="left" if column == "variant" else "right")
    total, words = 0.0, []
    for variant, one in _estimates(plan, jobs, compose):
        mine = [job for job in jobs if job.variant == variant.name]
        costs = one.costs
        numbers = (f"{costs.parameters:,}", f"{costs.flops_per_token:,.0f}", f"{one.tokens:,}", f"{one.seconds:.1f}")
        table.add_row(escape(variant.name), str(len(mine)), str(len({str(job.tuning) for job in mine})), *numbers)
        total += one.seconds * len(mine)
        words += [] if one.match is None else [f"{variant.name}: {one.match}"]
    seeds = ", ".join(map(str, plan.study.seeds))
    show(escape(f"{plan.study.name}: {plan.study.question}"), table, *map(escape, words))
    wall = total / side_by_side
    lasts = f"{total:,.0f} s of work, about {wall / 60:,.1f} min with {side_by_side} at once"
    show(f"{counted(len(jobs), 'run')}, {'seed' if len(plan.study.seeds) == 1 else 'seeds'} {seeds}: {lasts}")


def _estimates(
    plan: Plan, jobs: Sequence[Job], compose: Callable[[Sequence[str]], DictConfig]
) -> list[tuple[Variant, Estimate]]:
    """Of each variant, with a bar on a terminal meanwhile."""
    console = Console(stderr=True)
    columns = (TextColumn("making a few steps of each"), BarColumn(), MofNCompleteColumn(), TextColumn("variants"))
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        firsts = [next(job for job in jobs if job.variant == one.name) for one in plan.study.variants]
        made = [estimate(compose(job.overrides), job) for job in bar.track(firsts)]
    return [*zip(plan.study.variants, made, strict=True)]


def estimate(config: DictConfig, job: Job) -> Estimate:
    """What the run of that config costs and how long it takes, from a few of its steps."""
    start_fresh()
    prepared = prepare(config, list(job.overrides))
    budget = prepared.experiment.budget
    parts = build_parts(prepared.experiment, prepared.corpus, prepared.machinery)
    steps = list(
        fit(
            parts.model,
            parts.optimizer,
            parts.schedule,
            lambda step: parts.feed.tasks(step, budget.accumulate, prepared.experiment.seed),
            steps=min(STEPS, budget.steps),
            seed=prepared.experiment.seed,
            device=parts.device,
            autocast=prepared.machinery.autocast,
            forward=parts.forward,
        )
    )
    a_step = min(one.seconds for one in steps)
    seconds = budget.steps * a_step + _scoring(prepared, parts)
    words = None if prepared.match is None else as_words(prepared.match)
    return Estimate(parts.costs, steps[-1].positions * budget.steps, seconds, words)


def _scoring(prepared: Prepared, parts: Parts) -> float:
    """Seconds of all validations on the way and of the last scores, from one batch."""
    budget, corpus = prepared.experiment.budget, prepared.corpus
    seconds = 0.0
    for split in HELD_OUT:
        if split not in corpus.splits:
            continue
        began = time.perf_counter()
        score(parts.model, parts.feed, split, prepared.machinery, batches=1)
        a_batch = time.perf_counter() - began
        whole = -(-parts.feed.loaders[split].rows.evaluation // budget.batch_size)
        seconds += whole * a_batch
        if split == "validation":
            on_the_way = (budget.steps - 1) // budget.evaluate_every
            seconds += on_the_way * min(whole, budget.evaluate_batches or whole) * a_batch
    return seconds
