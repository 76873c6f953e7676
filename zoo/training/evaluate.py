"""Scores of a model on a stream of tasks: sums over all scored targets in float64, whatever the batch size."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor, nn

from zoo.errors import UserError
from zoo.objective import Task
from zoo.training.loss import log_probabilities, target_nats

LN2 = 0.6931471805599453


@dataclass(frozen=True)
class Scores:
    """How well the scored targets were predicted."""

    loss: float
    """Nats per scored target."""
    accuracy: float
    """Share of scored targets that have the highest logit."""
    tokens: int
    """Scored targets."""
    bits_per_byte: float | None
    """Σ nats / (ln 2 · Σ bytes), over the scored targets that stand for text."""
    no_bits_per_byte: str | None
    """Why bits_per_byte is None."""


@torch.no_grad()
def evaluate(
    model: nn.Module,
    tasks: Iterable[Task],
    byte_lengths: Int[Tensor, " V"],
    *,
    device: torch.device,
    autocast: torch.dtype | None = None,
    bytes_unknown: str | None = None,
) -> Scores:
    """Score the model without dropout; its train mode comes back. For averaged weights call it inside
    `with optimizer.averaged():`. `byte_lengths[v]` are the bytes that id v stands for: 0 for a special mark, which
    then counts in the loss but on neither side of bits per byte; −1 for unknown. `bytes_unknown` is why the bytes of
    the split's tokens are not those of its text, if they are not (`Split.bytes_unknown`). Raises UserError when nothing
    is scored.
    """
    lengths = byte_lengths.cpu()
    weight = nats = text_nats = text_bytes = right = torch.zeros((), dtype=torch.float64)
    tokens, unknown = 0, False
    with _evaluation_mode(model):
        for task in tasks:
            w, loss, hit = _score(model, task.to(device), autocast)
            length = lengths[task.targets.cpu().masked_fill(w == 0, 0)]
            text = w * (length > 0)
            weight, nats, right = weight + w.sum(), nats + (w * loss).sum(), right + (w * hit).sum()
            text_nats, text_bytes = text_nats + (text * loss).sum(), text_bytes + (text * length).sum()
            tokens += int((w > 0).sum())
            unknown |= bool(((length < 0) & (w > 0)).any())
    if not tokens:
        raise UserError("nothing to evaluate: no target of this split is scored; is the text shorter than one context?")
    reason = bytes_unknown
    if reason is None and unknown:
        reason = "some scored targets stand for an unknown number of bytes"
    if reason is None and not text_bytes:
        reason = "no scored target stands for text"
    bits = None if reason else float(text_nats / text_bytes) / LN2
    return Scores(float(nats / weight), float(right / weight), tokens, bits, reason)


def _score(model: nn.Module, task: Task, autocast: torch.dtype | None) -> tuple[Tensor, Tensor, Tensor]:
    """Weights, nats and hits of each target, on the CPU, where float64 always exists."""
    with torch.autocast(task.targets.device.type, autocast, enabled=autocast is not None):
        logits = model(**task.inputs).logits
    nats = target_nats(log_probabilities(logits), task.targets, task.weights)
    hits = logits.argmax(-1) == task.targets
    return task.weights.cpu().double(), nats.cpu().double(), hits.cpu()


@contextmanager
def _evaluation_mode(model: nn.Module) -> Iterator[None]:
    modes = {module: module.training for module in model.modules()}
    model.eval()
    try:
        yield
    finally:
        for module, training in modes.items():
            module.training = training
