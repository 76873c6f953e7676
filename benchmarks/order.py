"""Is a masked model blind to the order of words? Its loss on the test split as it is, and with the words that it sees
shuffled within their document, those that it must predict left where they are.

    python benchmarks/order.py runs/studies/no_position
"""

import statistics
import sys
from pathlib import Path

import torch
from torch import Tensor

import zoo
from zoo.config import parse
from zoo.data.corpus import load_corpus
from zoo.objective import Task, objectives
from zoo.study.loading import load_runs
from zoo.training.feed import Feed
from zoo.training.run import read_config


def shuffled(task: Task, generator: torch.Generator) -> Tensor:
    """The tokens of a task, those that are not scored in another order."""
    tokens = task.inputs["tokens"].clone()
    whole = torch.ones_like(tokens, dtype=torch.bool)
    documents, real = task.inputs.get("documents", torch.zeros_like(tokens)), task.inputs.get("padding", whole)
    for row in range(len(tokens)):
        for document in documents[row].unique():
            free = ((documents[row] == document) & real[row] & (task.weights[row] == 0)).nonzero()[:, 0]
            tokens[row, free] = tokens[row, free[torch.randperm(len(free), generator=generator)]]
    return tokens


@torch.no_grad()
def losses(folder: Path) -> tuple[float, float]:
    """Nats per scored token on the test split: as it is, and shuffled."""
    run, experiment = zoo.load(str(folder)), parse(read_config(folder))
    corpus = load_corpus(experiment.data, experiment.tokenizer, experiment.cache)
    objective, budget = objectives.build(experiment.objective), experiment.budget
    traits = run.model.topology.traits
    feed = Feed(corpus, objective, traits, batch_size=budget.batch_size, context=budget.context, splits=["test"])
    generator, sums, count = torch.Generator().manual_seed(0), torch.zeros(2), 0.0
    for task in feed.evaluation("test"):
        for place, tokens in enumerate((task.inputs["tokens"], shuffled(task, generator))):
            logits = run.model(**{**task.inputs, "tokens": tokens}).logits
            nats = torch.nn.functional.cross_entropy(logits.flatten(0, 1), task.targets.flatten(), reduction="none")
            sums[place] += (nats * task.weights.flatten()).sum()
        count += float(task.weights.sum())
    return float(sums[0] / count), float(sums[1] / count)


def main() -> None:
    torch.set_num_threads(1)
    by_variant: dict[str, list[tuple[float, float]]] = {}
    for run in load_runs(Path(sys.argv[1])).runs:
        if run.done and run.folder is not None:
            by_variant.setdefault(run.variant, []).append(losses(run.folder))
    for name, found in by_variant.items():
        rise = [after - before for before, after in found]
        spread = statistics.stdev(rise) if len(rise) > 1 else 0.0
        before = statistics.mean(one for one, _ in found)
        print(f"{name}: {before:.4f}, shuffled {statistics.mean(rise):+.4f} ± {spread:.4f} ({len(rise)} seeds)")


if __name__ == "__main__":
    main()
