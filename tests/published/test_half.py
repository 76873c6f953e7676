"""An imported model in bfloat16 differs from the library that it comes from by one rounding in each norm, and by
nothing else."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import AutoModelForCausalLM

import zoo
from tests.published.models import draw, theirs
from zoo.norm.rmsnorm import RMSNorm


@torch.no_grad()
def after_the_last_layer(model: Any) -> Tensor:
    """What our head reads."""
    read: list[Tensor] = []
    model.head.register_forward_pre_hook(lambda _, given: read.append(given[0]))
    model(draw())
    return read[0]


def rounded_first(self: RMSNorm, x: Tensor) -> Tensor:
    """Their order."""
    wide = x.float()
    unit = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
    return self.weight * unit.to(x.dtype)


def size(x: Tensor) -> float:
    return x.double().square().mean().sqrt().item()


def test_an_imported_llama_in_bfloat16_differs_by_the_order_of_its_norms_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = theirs("llama")
    exact.save_pretrained(tmp_path)
    kind: Any = AutoModelForCausalLM
    half = kind.from_pretrained(tmp_path, dtype=torch.bfloat16, attn_implementation="eager", local_files_only=True)
    with torch.no_grad():
        wanted, wide = (one.eval().model(draw()).last_hidden_state for one in (half, exact))
    model = zoo.load(tmp_path).model.to(torch.bfloat16)
    model.attention = "plain"
    own = after_the_last_layer(model)
    assert own.dtype == wanted.dtype == torch.bfloat16
    assert 0.005 < size(own - wanted) / size(wide) < 0.02
    assert size(own - wide) < 0.9 * size(wanted - wide)
    monkeypatch.setattr(RMSNorm, "forward", rounded_first)
    assert torch.equal(after_the_last_layer(model), wanted)
