"""Gradients of compiled code are compared with the model's own before the first update."""

import math
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from zoo.dropout import Dropout
from zoo.errors import RunFailed
from zoo.objective import Task
from zoo.part import Part
from zoo.training.forward import Whole
from zoo.training.loop import Update
from zoo.training.miscompiled import refuse_miscompiled

CPU = torch.device("cpu")
TASK = Task({"tokens": torch.arange(8).view(2, 4)}, torch.arange(8).view(2, 4).flip(0), torch.ones(2, 4))


class Small(nn.Module):
    """A table and a head, and a dropout beside them: compiled code and checked signatures do not mix."""

    def __init__(self, rate: float = 0.0):
        super().__init__()
        self.table, self.dropout, self.head = nn.Embedding(8, 6), Dropout(rate), nn.Linear(6, 8)

    def forward(self, tokens: Tensor) -> Any:
        return SimpleNamespace(logits=self.head(self.table(tokens)), auxiliary={})


def update_of(model: nn.Module, autocast: torch.dtype | None = None) -> Update:
    return Update(Whole(model, CPU, autocast=autocast), [TASK], 0, 0)


def compiled(wrong: float, rate: float = 0.0) -> nn.Module:
    """A model whose compiled code multiplies all gradients by `wrong`."""
    torch.compiler.reset()  # after some programs of one function it makes no more
    torch.manual_seed(0)
    model = Small(rate)

    def backend(graph: Any, inputs: Any) -> Any:
        return lambda *values: [
            one * wrong - (one * (wrong - 1)).detach() if one.is_floating_point() else one for one in graph(*values)
        ]

    model.compile(backend=backend)
    return model


@pytest.mark.parametrize("autocast", [None, torch.bfloat16, torch.float16])
def test_right_code_passes_and_leaves_nothing_behind(autocast: torch.dtype | None) -> None:
    model = compiled(1.0)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    refuse_miscompiled(update_of(model, autocast), CPU, autocast is torch.float16)
    assert all(one.grad is None for one in model.parameters())
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())


@pytest.mark.parametrize("wrong", [1.5, 0.0, float("nan")])
def test_wrong_code_is_refused(wrong: float) -> None:
    with pytest.raises(RunFailed, match=r"those of table.weight are off by .* set runtime.compile=false"):
        refuse_miscompiled(update_of(compiled(wrong)), CPU, False)


def test_a_model_that_drops_is_not_looked_at_since_its_masks_are_others() -> None:
    model = compiled(1.5, rate=0.5)
    refuse_miscompiled(update_of(model), CPU, False)
    with pytest.raises(RunFailed):
        refuse_miscompiled(update_of(model.eval()), CPU, False)


class Routed(Part):
    compiles = False


def test_where_tokens_are_routed_only_what_is_not_finite_is_wrong() -> None:
    for wrong in (1.5, float("nan")):
        model = compiled(wrong)
        model.routed = Routed()
        with pytest.raises(RunFailed) if math.isnan(wrong) else nullcontext():
            refuse_miscompiled(update_of(model), CPU, False)


def test_where_the_model_itself_overflows_nothing_is_said_of_its_code() -> None:
    model = compiled(float("nan"))
    with torch.no_grad():
        next(model.parameters()).fill_(float("inf"))
    refuse_miscompiled(update_of(model), CPU, False)
