import torch

from zoo.data.batch import Batch, TextBatch
from zoo.data.special import Special
from zoo.objective import Draws, Objective, Task, objectives
from zoo.traits import Traits


@objectives.register("causal")
class Causal(Objective):
    """−Σ_t log p(x_t | x_<t): every token of the window but the first is predicted from those before it.

    label_smoothing: share of the target's probability that is spread evenly over the vocabulary while training

    paper: Bengio et al. 2003, "A Neural Probabilistic Language Model"
    differs: a window starts without the text before it.
    """

    wants = "reads left to right and nothing else"

    def __init__(self, *, label_smoothing: float = 0.0, output_z: float = 0.0):
        super().__init__(label_smoothing, output_z)

    @classmethod
    def serves(cls, traits: Traits) -> bool:
        return traits.generates and not traits.reads_source and not traits.takes_prefix

    def window(self, context: int) -> tuple[int, int]:
        return context + 1, 1

    def prepare(self, batch: Batch, special: Special, traits: Traits, draws: Draws) -> Task:
        assert isinstance(batch, TextBatch)  # what it reads
        tokens, real, documents = batch.tokens, batch.real, batch.documents
        weights = torch.ones(tokens[:, 1:].shape) if real is None else real[:, 1:].float()
        inputs = {"tokens": tokens[:, :-1]}
        if real is not None:
            inputs["padding"] = real[:, :-1]
        if documents is not None:
            inputs["documents"] = documents[:, :-1]
            weights = weights * (
                documents[:, 1:] == documents[:, :-1]
            )  # no document predicts the first token of the next
        return Task(inputs, tokens[:, 1:], weights, batch.notes and batch.notes.shifted())
