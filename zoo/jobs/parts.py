"""What a run consists of, built from its experiment before anything is written."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch

from zoo.accounting import Costs, costs
from zoo.assembly import build_model
from zoo.data.corpus import Corpus
from zoo.errors import UserError
from zoo.experiment import Experiment
from zoo.leak import refuse_leaks
from zoo.memory import refuse_beyond
from zoo.model import Model
from zoo.objective import Objective, objectives
from zoo.topology import topologies
from zoo.topology.stack import Stack
from zoo.training.allocator import keep_large_blocks
from zoo.training.compilation import add_rows_in_order, keep_counts_in_the_program, save_tensors_not_views
from zoo.training.feed import Feed
from zoo.training.forward import Blocks, Forward, Whole
from zoo.training.loss_scale import LossScale
from zoo.training.optimizer import Optimizer, optimizers
from zoo.training.runtime import Machinery
from zoo.training.schedule import Schedule, schedules


@dataclass(frozen=True)
class Parts:
    """All that trains and scores one model."""

    device: torch.device
    objective: Objective
    feed: Feed
    schedule: Schedule
    model: Model
    costs: Costs
    optimizer: Optimizer
    scale: LossScale | None
    """Of the loss, where float16 needs one."""
    forward: Callable[..., Forward]
    """How the loss of a task is computed."""


def build_parts(experiment: Experiment, corpus: Corpus, machinery: Machinery) -> Parts:
    """The parts of a run, on its device. Raises UserError for what does not fit together."""
    budget = experiment.budget
    torch.set_num_threads(machinery.threads)
    refuse_too_many(experiment, corpus.kind, torch.device(machinery.device))
    objective = objectives.build(experiment.objective)
    feed = Feed(
        corpus,
        objective,
        topologies.get(experiment.model.topology.name).traits,
        batch_size=budget.batch_size,
        context=budget.context,
        splits=list(corpus.splits),
    )
    schedule = schedules.build(experiment.schedule)
    model = build_model(experiment.model, corpus.tokenizer.vocabulary, experiment.seed)
    refuse_limit(model, budget.context, "budget.context")
    refuse_leaks(model, budget.context)
    counted = costs(model, budget.context)
    for module in model.modules():
        if isinstance(module, Stack):
            module.recompute = experiment.runtime.checkpoint_activations
    place(model, machinery)
    optimizer = optimizers.build(experiment.optimizer, model)
    device = torch.device(machinery.device)
    scale = LossScale(device) if machinery.autocast is torch.float16 else None
    return Parts(device, objective, feed, schedule, model, counted, optimizer, scale, forward_of(model, machinery))


def refuse_too_many(experiment: Experiment, kind: str, device: torch.device) -> None:
    """Raises UserError where the ids of an update, which are made at once, or the embeddings of a batch are more than
    the memory there is. Rows of pairs may be as short as one position."""
    budget, host = experiment.budget, torch.device("cpu")
    batch = budget.batch_size * (budget.context if kind == "text" else 1)
    rows = f"{budget.batch_size:,} rows need" if budget.accumulate == 1 else "the rows of an update need"
    advice = "make budget.batch_size, budget.accumulate or budget.context smaller"
    refuse_beyond(8 * batch * budget.accumulate, host, rows, advice)
    refuse_beyond((8 + 2 * experiment.model.d_model) * batch, device, rows, advice)


def place(model: Model, machinery: Machinery) -> None:
    """Put the model where it is to be computed, and say how."""
    model.attention = machinery.attention
    model.to(machinery.device)
    keep_large_blocks()
    if machinery.compile:
        save_tensors_not_views()
        keep_counts_in_the_program()
        add_rows_in_order(torch.device(machinery.device))
        model.compile()


def forward_of(model: Model, machinery: Machinery) -> Callable[..., Forward]:
    """How the loss of a model that was put in its place is computed."""
    if machinery.logits == "whole":
        return Whole
    return partial(Blocks, read=torch.compile(model.read) if machinery.compile else model.read)


def refuse_limit(model: Model, context: int, key: str) -> None:
    """Raises UserError when a row, which has up to `context` positions, has more of them than can be told apart."""
    if model.limit is not None and model.limit < context:
        raise UserError(
            f"{key}={context} positions, but the position scheme tells only {model.limit} apart"
            f" (model.position.max_positions); set {key}={model.limit} or less, raise that, or choose another"
            " model/position"
        )
