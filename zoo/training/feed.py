"""From a corpus to the tasks of each step and of an evaluation."""

from collections.abc import Iterator

from zoo.config import Budget
from zoo.data.batches import Loader
from zoo.data.corpus import Corpus
from zoo.init import generator_for
from zoo.objective import Objective, Task


class Feed:
    """The tasks of one run. Those of a step are a function of (data, objective, seed, step) and nothing else; those of
    an evaluation are the same for every seed. Raises UserError when a split is too short for one context."""

    def __init__(self, corpus: Corpus, objective: Objective, topology: str, budget: Budget, seed: int):
        self.corpus, self.objective, self.topology, self.budget, self.seed = corpus, objective, topology, budget, seed
        self.special = corpus.tokenizer.special
        self.loaders = {split: self._loader(split) for split in corpus.splits}

    def tasks(self, step: int) -> list[Task]:
        """The micro-batches of update number `step`, counted from 0."""
        return [self._task(step * self.budget.accumulate + micro) for micro in range(self.budget.accumulate)]

    def evaluation(self, split: str, batches: int | None = None) -> Iterator[Task]:
        """Every target of the split once, or as many as fill that many batches."""
        generator = generator_for(0, "evaluation", split)
        for batch in self.loaders[split].evaluation(batches):
            yield self.objective.prepare(batch, self.special, self.topology, generator)

    def _task(self, index: int) -> Task:
        batch = self.loaders["train"].train_batch(index, self.seed)
        return self.objective.prepare(batch, self.special, self.topology, generator_for(self.seed, "objective", index))

    def _loader(self, split: str) -> Loader:
        budget = self.budget
        length, overlap = self.objective.window(budget.context)
        return Loader(self.corpus, split, length, overlap, budget.batch_size, budget.context)
