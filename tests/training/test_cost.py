"""The operations that a run logs are those of the rows that it was given."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from tests.helpers import TOPOLOGIES, call, draw, model
from zoo.data.batch import PairBatch
from zoo.data.special import Special
from zoo.objective import objectives
from zoo.training.cost import TrainingFlops

SPECIAL = Special(start=1, end=2, mask=3)


@pytest.mark.parametrize("topology", [name for name in TOPOLOGIES if name != "encoder_only"])
def test_a_step_costs_three_times_what_torch_counts_in_the_forward_pass_of_its_task(topology: str) -> None:
    """Also where source and target have different lengths, and where they share a row."""
    built = model(topology=topology)
    built.attention = "plain"
    source, target = draw(3, 8), draw(3, 5)
    batch = PairBatch(source, torch.ones(3, 8, dtype=torch.bool), target, torch.ones(3, 5, dtype=torch.bool))
    task = objectives.get("seq2seq")().prepare(
        batch, SPECIAL, built.topology.traits, lambda length, each: torch.zeros(length, each)
    )
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        call(built, **task.inputs)
    assert TrainingFlops(built)(task) == 3 * counter.get_total_flops()
