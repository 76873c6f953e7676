"""What is wrong with a run and can be told from its config alone: before a corpus is made, and the machine measured."""

import torch

from zoo.assembly import assemble
from zoo.data.source import sources
from zoo.data.tokenizer import tokenizers
from zoo.errors import UserError
from zoo.experiment import Experiment
from zoo.jobs.parts import refuse_limit, refuse_too_many
from zoo.model import Model
from zoo.objective import objectives
from zoo.topology import topologies
from zoo.training.feed import refuse_unread
from zoo.training.optimizer import optimizers
from zoo.training.runtime import refuse_absent
from zoo.training.schedule import schedules


def refuse_early(experiment: Experiment, *, matched: bool) -> None:
    """Raises UserError for parts with values that they do not take, a warm-up that fills the run, data that the
    objective cannot be made of, parts that do not fit, and rows that are too long."""
    budget, kind = experiment.budget, sources.get(experiment.data.name).kind
    refuse_absent(experiment.runtime)
    schedules.build(experiment.schedule).factor(0, budget.steps)
    tokenizers.build(experiment.tokenizer)
    objective = objectives.build(experiment.objective)
    refuse_unread(type(objective), kind, topologies.get(experiment.model.topology.name).traits)
    objective.window(budget.context)
    with torch.device("meta"):
        model = _model(experiment, matched)
        if model is not None:
            optimizers.build(experiment.optimizer, model)
            refuse_limit(model, budget.context, "budget.context")


def _model(experiment: Experiment, matched: bool) -> Model | None:
    """One of its parts; none where they do not fit before they are matched, as then they may."""
    try:
        return assemble(experiment.model, vocabulary=1)
    except UserError:
        if matched:
            return None
        raise


def refuse_unbuildable(experiment: Experiment, *, matched: bool) -> None:
    """Raises UserError for more rows than there is memory. A run that is done, with its corpus there, may have been
    trained where there was more."""
    if not matched:
        kind = sources.get(experiment.data.name).kind
        refuse_too_many(experiment, kind, refuse_absent(experiment.runtime))
