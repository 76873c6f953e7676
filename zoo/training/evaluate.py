"""Scores of a model on a stream of tasks: sums over all scored targets in float64, whatever the batch size."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor, nn

from zoo.data.batch import Notes
from zoo.data.floor.tally import Tally
from zoo.errors import UserError
from zoo.objective import Task
from zoo.training.hits import hits
from zoo.training.logits import LogitsOf, whole_logits
from zoo.training.loss import log_probabilities

LN2 = 0.6931471805599453


@dataclass(frozen=True)
class Skill:
    """Scores of the targets that need one skill."""

    tokens: int
    loss: float
    """Nats per target."""
    floor: float
    """Nats per target under the true source."""
    accuracy: float
    words: int
    """Words that are scored whole, whatever the tokens they are written in."""
    word_accuracy: float | None
    """Share of them of which every token has the highest logit."""
    word_loss: float | None
    """Nats of them, per word."""
    determined: int
    """Words that can be known for certain from what stands before them."""
    determined_accuracy: float | None
    """Share of those of which every token has the highest logit."""
    determined_loss: float | None
    """Nats of those, per word; their floor is 0."""
    by_distance: dict[str, float]
    """Nats above the floor per target, by how many words back that stands on which it depends."""
    tokens_by_distance: dict[str, int]
    """Of how many targets that is."""
    words_by_distance: dict[str, int]
    """Of how many words, as in `words`."""
    determined_by_distance: dict[str, float]
    """`determined_accuracy` by the same."""
    determined_words_by_distance: dict[str, int]
    """Of how many words that is."""
    lines: Mapping[str, Mapping[str, float]]
    """What guessing ("chance") and the source itself ("best") score, where it is known: accuracy and nats on the
    determined words, or on all when none is."""


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
    """Σ nats / (ln 2 · Σ bytes), over the scored targets that stand for text. What nothing predicts is in neither sum:
    the first token of a document (of the text, if it is one), a source, padding. Of words that is a whole word, of
    bytes one byte, so where documents are short two tokenizers are compared on not quite the same text."""
    no_bits_per_byte: str | None
    """Why bits_per_byte is None."""
    floor: float | None = None
    """The loss of the true source on the same targets, where it is known: nothing can be better on the whole."""
    skills: dict[str, Skill] = field(default_factory=dict)
    """The same by the skill that a target needs."""

    def values(self) -> dict[str, Any]:
        """What a line or a file of a run says of them."""
        found = self.as_dict()
        return {key: value for key, value in found.items() if key not in ("tokens", "no_bits_per_byte")}

    def as_dict(self) -> dict[str, Any]:
        """For a record; without what this corpus does not have."""
        found = {key: value for key, value in asdict(self).items() if key not in ("floor", "skills")}
        return found | ({} if self.floor is None else {"floor": self.floor, "skills": asdict(self)["skills"]})


@torch.no_grad()
def evaluate(
    model: nn.Module,
    tasks: Iterable[Task],
    byte_lengths: Int[Tensor, " V"],
    *,
    device: torch.device,
    autocast: torch.dtype | None = None,
    logits_of: LogitsOf = whole_logits,
    bytes_unknown: str | None = None,
    skills: Sequence[str] = (),
    lines: Mapping[str, Mapping[str, Mapping[str, float]]] = {},
) -> Scores:
    """Score the model without dropout; its train mode comes back. For averaged weights call it inside
    `with optimizer.averaged():`. `byte_lengths[v]` are the bytes that id v stands for: 0 for a special mark, which
    then counts in the loss but on neither side of bits per byte; −1 for unknown. `bytes_unknown` is why the bytes of
    the split's tokens are not those of its text, if they are not (`Split.bytes_unknown`); `skills` names the skills of
    the tasks' notes, `lines` are those of the corpus; `logits_of` is how the logits are made. Raises UserError when
    nothing is scored.
    """
    lengths = byte_lengths.cpu()
    weight = nats = text_nats = text_bytes = right = torch.zeros((), dtype=torch.float64)
    tokens, unknown = 0, False
    tally = Tally(skills)
    with _evaluation_mode(model):
        for task in tasks:
            w, loss, hit = _score(model, task.to(device), autocast, logits_of)
            length = lengths[task.targets.cpu().masked_fill(w == 0, 0)]
            text = w * (length > 0)
            weight, nats, right = weight + w.sum(), nats + (w * loss).sum(), right + (w * hit).sum()
            text_nats, text_bytes = text_nats + (text * loss).sum(), text_bytes + (text * length).sum()
            tokens += int((w > 0).sum())
            unknown |= bool(((length < 0) & (w > 0)).any())
            if task.notes is not None:
                _note(tally, task.notes, w > 0, loss, hit)
    if not tokens:
        raise UserError("nothing to evaluate: no target of this split is scored; is the text shorter than one context?")
    reason = bytes_unknown
    if reason is None and unknown:
        reason = "some scored targets stand for an unknown number of bytes"
    if reason is None and not text_bytes:
        reason = "no scored target stands for text"
    bits = None if reason else float(text_nats / text_bytes) / LN2
    floor = tally.total("floor") / tokens if tally.sums else None
    return Scores(float(nats / weight), float(right / weight), tokens, bits, reason, floor, _by_skill(tally, lines))


def _note(tally: Tally, notes: Notes, scored: Tensor, loss: Tensor, hit: Tensor) -> None:
    """Add the scored targets of a task to the sums by skill and distance; words count where they begin."""
    whole, right, nats = _words(notes.width, scored, loss, hit)
    certain = whole & (notes.floor == 0)
    values = {"tokens": torch.ones_like(loss), "loss": loss, "floor": notes.floor, "right": hit}
    values |= {"words": whole, "right_words": whole & right, "loss_words": whole * nats}
    values |= {"determined": certain, "right_determined": certain & right, "loss_determined": certain * nats}
    numbers = {key: value[scored].double().numpy() for key, value in values.items()}
    tally.add(notes.skill[scored].long().numpy(), notes.distance[scored].long().numpy(), **numbers)


def _words(width: Tensor, scored: Tensor, loss: Tensor, hit: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """For each target whether a word begins there that is scored whole, whether all of it is hit, and its nats."""
    start = torch.arange(width.shape[1]).expand_as(width)
    stop = (start + width).clamp(max=width.shape[1])

    def within(part: Tensor) -> Tensor:
        sums = torch.nn.functional.pad((part * scored).double().cumsum(1), (1, 0))
        return sums.gather(1, stop) - sums.gather(1, start)

    whole = (width > 0) & (within(torch.ones_like(loss)) == width)
    return whole, within(hit) == width, within(loss)


def _by_skill(tally: Tally, lines: Mapping[str, Mapping[str, Mapping[str, float]]]) -> dict[str, Skill]:
    """What the sums say of each skill."""
    if not tally.sums:
        return {}
    sums = {key: tally.by_skill(key) for key in tally.sums}
    found = {}
    for name, count in sums["tokens"].items():
        far = {key: tally.by_distance(name, key) for key in tally.sums}
        certain, words = sums["determined"][name], sums["words"][name]
        found[name] = Skill(
            tokens=round(count),
            loss=sums["loss"][name] / count,
            floor=sums["floor"][name] / count,
            accuracy=sums["right"][name] / count,
            words=round(words),
            word_accuracy=sums["right_words"][name] / words if words else None,
            word_loss=sums["loss_words"][name] / words if words else None,
            determined=round(certain),
            determined_accuracy=sums["right_determined"][name] / certain if certain else None,
            determined_loss=sums["loss_determined"][name] / certain if certain else None,
            by_distance={b: (far["loss"][b] - far["floor"][b]) / n for b, n in far["tokens"].items()},
            tokens_by_distance={b: round(n) for b, n in far["tokens"].items()},
            words_by_distance={b: round(n) for b, n in far["words"].items()},
            determined_by_distance={b: far["right_determined"][b] / n for b, n in far["determined"].items() if n},
            determined_words_by_distance={b: round(n) for b, n in far["determined"].items() if n},
            lines=lines.get(name, {}),
        )
    return found


def _score(
    model: nn.Module, task: Task, autocast: torch.dtype | None, logits_of: LogitsOf
) -> tuple[Tensor, Tensor, Tensor]:
    """Weights, nats and hits of each target, on the CPU, where float64 always exists; nats and hits of those that are
    not scored are 0, and no probability is computed for them."""
    scored = task.weights > 0
    targets, found = task.targets[scored].unsqueeze(-1), []
    with torch.autocast(task.targets.device.type, autocast, enabled=autocast is not None):
        for logits in logits_of(model, task, scored):
            some, targets = targets[: len(logits)], targets[len(logits) :]
            found.append((-log_probabilities(logits).gather(-1, some).squeeze(-1), hits(logits, some)))
    nats, right = (torch.zeros(scored.shape, dtype=dtype) for dtype in (torch.float64, torch.bool))
    nats[scored.cpu()] = torch.cat([one.cpu().double() for one, _ in found])
    right[scored.cpu()] = torch.cat([one.cpu() for _, one in found])
    return task.weights.cpu().double(), nats, right


@contextmanager
def _evaluation_mode(model: nn.Module) -> Iterator[None]:
    modes = {module: module.training for module in model.modules()}
    model.eval()
    try:
        yield
    finally:
        for module, training in modes.items():
            module.training = training
