"""Which splits an evaluation looks at."""

from typing import Any

from zoo.data.corpus import Corpus
from zoo.errors import UserError
from zoo.jobs.job import HELD_OUT
from zoo.registry import did_you_mean
from zoo.schema import convert


def held_out(asked: Any, corpus: Corpus) -> list[str]:
    """The splits to score: those that are asked for, which the corpus must have; else the held-out ones it has.
    Raises UserError for one that it lacks or that is named twice, and where there is none."""
    named = convert(asked, tuple[str, ...] | None, "splits")
    splits = [split for split in HELD_OUT if split in corpus.splits] if named is None else list(named)
    for split in splits:
        if split not in corpus.splits:
            hint = did_you_mean(split, corpus.splits)
            raise UserError(f"splits: the corpus has no '{split}'{hint}; choose from {', '.join(corpus.splits)}")
        if splits.count(split) > 1:
            raise UserError(f"splits names '{split}' twice; name each split once")
    if not splits:
        raise UserError(f"splits: nothing to score; choose from {', '.join(corpus.splits)}")
    return splits
