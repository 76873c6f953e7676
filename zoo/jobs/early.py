"""What is wrong with a run and can be told from its config alone, before a corpus is made."""

import torch

from zoo.assembly import assemble
from zoo.data.source import sources
from zoo.data.tokenizer import tokenizers
from zoo.experiment import Experiment
from zoo.jobs.parts import refuse_limit, refuse_too_many
from zoo.objective import objectives
from zoo.roles import Linear
from zoo.topology import topologies
from zoo.training.feed import refuse_unread
from zoo.training.optimizer import optimizers
from zoo.training.runtime import refuse_absent
from zoo.training.schedule import schedules


def refuse_early(experiment: Experiment, *, matched: bool) -> None:
    """Raises UserError for parts with values that they do not take, a warm-up that fills the run, data that the
    objective cannot be made of, parts that do not fit, rows that are too long or too many. A model that is to be
    matched is not known yet."""
    device = refuse_absent(experiment.runtime)
    budget, kind = experiment.budget, sources.get(experiment.data.name).kind
    schedules.build(experiment.schedule).factor(0, budget.steps)
    tokenizers.build(experiment.tokenizer)
    objective = objectives.build(experiment.objective)
    refuse_unread(type(objective), kind, topologies.get(experiment.model.topology.name).traits)
    objective.window(budget.context)
    with torch.device("meta"):
        optimizers.build(experiment.optimizer, Linear(1, 1, bias=False))  # checks its values, which are of no model
        if not matched:
            refuse_limit(assemble(experiment.model, vocabulary=1), budget.context, "budget.context")
            refuse_too_many(experiment, kind, device)
