"""A few logits saved beside the weights: whatever computes others from them is not the model that was trained.

Digests tell that files are as they were written. This tells that they mean what they meant: a tensor that another tool
transposed, or a part whose equation has changed since.
"""

import math
from typing import Any

import torch

from zoo.bare import bare
from zoo.errors import UserError
from zoo.model import Model

LENGTH, MOST = 8, 32
TOLERANCE = 1e-4
"""Of the largest of them: a hundred times what rounding does."""


@torch.no_grad()
def probe(model: Model) -> list[float] | None:
    """Logits of the last of some fixed tokens, in float32 by attention written out; at most 32 of them, evenly spread
    over the vocabulary. None when one is not finite."""
    model = bare(model)
    device = model.head.out.weight.device
    length = min(LENGTH, model.limit or LENGTH)
    tokens = (torch.arange(length, device=device)[None] * 7919 + 1) % model.vocabulary
    source = tokens.flip(1) if model.topology.traits.reads_source else None
    attention, training = model.attention, model.training
    model.attention = "plain"
    model.eval()
    try:
        with torch.autocast(device.type, enabled=False):
            logits = model.forward(tokens, source=source).logits[0, -1]  # not compiled for this one shape
    finally:
        model.attention = attention
        model.train(training)
    found = logits[:: max(1, model.vocabulary // MOST)][:MOST].tolist()
    return found if all(map(math.isfinite, found)) else None


def check_probe(model: Model, saved: Any, where: str) -> None:
    """Raise UserError unless the model computes what was saved. There is nothing to compare with where that is None."""
    if saved is None:
        return
    now = probe(model)
    if not isinstance(saved, list) or not all(isinstance(one, int | float) for one in saved):
        raise UserError(f"{where} is damaged: architecture.probe must be a list of numbers")
    bound = TOLERANCE * max((abs(one) for one in saved), default=0.0)
    if now is None or len(now) != len(saved) or any(abs(a - b) > bound for a, b in zip(now, saved, strict=True)):
        raise UserError(
            f"{where}: the model computes other logits than when it was saved; a tensor was changed or transposed, or a"
            " part has changed: use the version that wrote it"
        )
