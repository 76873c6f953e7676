import torch
from torch import Tensor

from zoo.data.batch import Batch, PairBatch
from zoo.data.special import Special
from zoo.errors import UserError
from zoo.objective import Draws, Objective, Task, objectives
from zoo.traits import Traits


@objectives.register("tagging")
class Tagging(Objective):
    """−Σ_t log p(y_t | x): the tokens of a pair's target are labels of the last tokens of its source, each predicted at
    the place of its token. As many labels as tokens tag each one (or mark a span); a single label at the end is that of
    the whole. Labels are words of the vocabulary, so the model needs no other head.

    label_smoothing: share of the target's probability that is spread evenly over the vocabulary while training

    paper: Devlin et al. 2018, arXiv:1810.04805, sections 4 and 5.3 (labels and spans read off the tokens' own states)
    differs: labels are chosen from the whole vocabulary; that of a text stands at its last token, which a model that
        reads left to right can use too.
    """

    wants = "reads its text in one stack"
    reads = frozenset({"pairs"})

    def __init__(self, *, label_smoothing: float = 0.0, output_z: float = 0.0):
        super().__init__(label_smoothing, output_z)

    @classmethod
    def serves(cls, traits: Traits) -> bool:
        return not traits.reads_source

    def window(self, context: int) -> tuple[int, int]:
        return context, 0

    def opening(self, text: Tensor, special: Special, traits: Traits) -> tuple[Tensor | None, Tensor]:
        raise UserError("this run was trained to label texts (objective=tagging), not to go on from them")

    def prepare(self, batch: Batch, special: Special, traits: Traits, draws: Draws) -> Task:
        assert isinstance(batch, PairBatch)  # what it reads
        tokens, labels = batch.source_real.sum(1), batch.target_real.sum(1)
        if bool((labels > tokens).any()):
            row = int((labels > tokens).nonzero()[0])
            raise UserError(
                f"a source of {int(tokens[row])} tokens has {int(labels[row])} labels; objective=tagging needs a token"
                " for each label: use tokenizer=words and data whose targets are labels (data=toy_roles)"
            )
        place = torch.arange(batch.source.shape[1])
        column = place - (tokens - labels)[:, None]
        scored = (column >= 0) & (place < tokens[:, None])
        column = column.clamp(0, batch.target.shape[1] - 1)
        inputs = {"tokens": batch.source, "padding": batch.source_real}
        if traits.takes_prefix:
            inputs["prefix"] = batch.source_real
        notes = batch.notes and batch.notes.at(column, scored)
        return Task(inputs, batch.target.gather(1, column), scored.float(), notes)
