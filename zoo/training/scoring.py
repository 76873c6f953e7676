"""The score of a held-out split, the same way whoever asks: during training, at its end, at other lengths, later."""

import torch
from torch import nn

from zoo.training.compilation import compiling
from zoo.training.evaluate import Scores, evaluate
from zoo.training.feed import Feed
from zoo.training.logits import block_logits, whole_logits
from zoo.training.runtime import Machinery
from zoo.training.uncompiled import eagerly


def score(
    model: nn.Module,
    feed: Feed,
    split: str,
    machinery: Machinery,
    *,
    batches: int | None = None,
    compiled: bool = False,
) -> Scores:
    """Score a split of the feed, the whole of it or some batches. A model that was compiled to be trained is scored as
    it was written: compiling once more, for other shapes, takes longer than most scoring; `compiled` compiles all the
    same. How rows fall into batches moves a score by rounding alone. Raises UserError when nothing is scored."""
    corpus = feed.corpus
    of_code = compiled and machinery.compile
    tasks = feed.evaluation if of_code else feed.scoring  # each shape would be compiled
    logits_of = whole_logits if of_code else block_logits  # what is compiled is the model as a whole
    with compiling() if compiled else eagerly():
        return evaluate(
            model,
            tasks(split, batches),
            torch.from_numpy(corpus.tokenizer.byte_lengths),
            device=torch.device(machinery.device),
            autocast=machinery.autocast,
            logits_of=logits_of,
            bytes_unknown=corpus.splits[split].bytes_unknown,
            skills=corpus.skills,
            lines=corpus.lines,
        )
