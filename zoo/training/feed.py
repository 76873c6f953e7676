"""From a corpus to the tasks of each step and of an evaluation."""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from zoo.data.batch import Batch, TextBatch
from zoo.data.batches import Loader
from zoo.data.corpus import Corpus
from zoo.errors import UserError
from zoo.luck import generator_for
from zoo.objective import Objective, Task, objectives
from zoo.traits import Traits

POSITIONS, LOGITS = 2048, 1 << 22
"""A scored batch has so many positions where those of a training batch are fewer, unless their logits are more."""


def unread(objective: type[Objective], kind: str) -> str | None:
    """Why that objective can be made of no data of that kind; None when it can."""
    if kind in objective.reads:
        return None
    return f"the data is {kind}, but this objective reads {' or '.join(sorted(objective.reads))}"


def refuse_unread(objective: type[Objective], kind: str, traits: Traits) -> None:
    """Raises UserError, with the objectives that would do, for data that the objective cannot be made of."""
    reason = unread(objective, kind)
    if reason:
        reading = (name for name in objectives.names() if kind in objectives.get(name).reads)
        fitting = [f"objective={name}" for name in reading if objectives.get(name).serves(traits)]
        raise UserError(f"{reason}; choose {' or '.join([*fitting, 'other data'])}")


class Feed:
    """The tasks of one run. Those of a step are a function of (data, objective, seed, step) and nothing else; those of
    an evaluation are the same for every seed. Raises UserError when a split is too short for one context."""

    def __init__(
        self, corpus: Corpus, objective: Objective, traits: Traits, *, batch_size: int, context: int, splits: list[str]
    ):
        refuse_unread(type(objective), corpus.kind, traits)
        self.corpus, self.objective, self.traits, self.batch_size = corpus, objective, traits, batch_size
        self.special = corpus.tokenizer.special
        small = min(POSITIONS, LOGITS // corpus.tokenizer.vocabulary)
        self.positions = max(batch_size * context, small)
        length, overlap = objective.window(context)
        self.loaders = {split: Loader(corpus, split, length, overlap, batch_size, context) for split in splits}
        if "train" in self.loaders:
            self.epoch = self.loaders["train"].batches_per_epoch  # refuses a split with less than one window

    def refuse_unfilled(self, context: int, key: str) -> None:
        """Raises UserError where a split cannot fill one row of that many positions: its scores would be those of a
        shorter context under another name, and most of what is computed padding."""
        for split, loader in self.loaders.items():
            longest = loader.rows.longest
            if context > longest:
                raise UserError(
                    f"{key}={context} positions, but the longest row that the {split} split can fill has {longest};"
                    f" set {key}={longest} or less, or use more text"
                )

    def tasks(self, step: int, accumulate: int, seed: int) -> list[Task]:
        """The micro-batches of update number `step`, counted from 0."""
        return [self._task(step * accumulate + micro, seed) for micro in range(accumulate)]

    def evaluation(self, split: str, batches: int | None = None) -> Iterator[Task]:
        """Every target of the split once, or as many as fill that many batches."""
        first = 0
        for batch in self.loaders[split].evaluation(batches):
            count = rows_of(batch)
            yield self._prepare(batch, range(first, first + count), "evaluation", split)
            first += count

    def scoring(self, split: str, batches: int | None = None) -> Iterator[Task]:
        """The same targets as those of `evaluation`, each of the same row, in the batches that are scored fastest."""
        for places, batch in self.loaders[split].scoring(self.positions, batches):
            yield self._prepare(batch, places.tolist(), "evaluation", split)

    def _task(self, index: int, seed: int) -> Task:
        batch = self.loaders["train"].train_batch(index, seed)
        first = index * self.batch_size
        return self._prepare(batch, range(first, first + self.batch_size), "objective", seed)

    def _prepare(self, batch: Batch, rows: Sequence[int], *key: int | str) -> Task:
        """The task of a batch whose rows have those numbers; each row draws from the stream of its number."""

        def draws(length: int, each: int) -> Tensor:
            return torch.stack([torch.rand(length, each, generator=generator_for(*key, row)) for row in rows])

        return self.objective.prepare(batch, self.special, self.traits, draws)


def rows_of(batch: Batch) -> int:
    """How many rows a batch has."""
    return len(batch.tokens if isinstance(batch, TextBatch) else batch.source)
