"""The translations of the first pairs of held-out splits, and their scores."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from zoo.data.corpus import Corpus
from zoo.data.rows import PairRows
from zoo.data.source import Source
from zoo.inference.chrf import ChrF
from zoo.inference.translating import translations
from zoo.inference.translation_scores import scored
from zoo.jobs.opened import Opened, computing

EXAMPLES = 3


@dataclass(frozen=True)
class Pairs:
    """The first pairs of a split that fit the context that the run was trained with, as tokens."""

    sources: Sequence[Tensor]
    targets: Sequence[Tensor]
    too_long: int
    """How many pairs of the whole split do not."""

    @classmethod
    def of(cls, corpus: Corpus, split: str, count: int, context: int) -> "Pairs":
        """At most `count` of them. Raises UserError when none fits."""
        found = corpus.split(split)
        rows = PairRows(found, context, 0, context)

        def documents(numbers: Any) -> list[Tensor]:
            ends = zip(found.offsets[numbers], found.offsets[numbers + 1], strict=True)
            return [torch.from_numpy(found.tokens[a:b].astype("int64")) for a, b in ends]

        chosen = 2 * rows.kept.at(np.arange(min(count, len(rows.kept))))
        return cls(documents(chosen), documents(chosen + 1), rows.kept.dropped)


def translated(
    given: Opened, chosen: Mapping[str, Pairs], source: Source, chrf: ChrF, batch_size: int
) -> dict[str, Any]:
    """What `translation.json` holds but for the number of pairs that was asked for."""
    splits = []
    for split, pairs in chosen.items():
        found = _split(given, split, pairs, source, chrf, batch_size)
        splits.append({"split": split, "too_long": pairs.too_long, **found})
    about = {"version": 1, "run": given.folder.name, **given.run.weights(), "machinery": given.machinery.as_dict()}
    about |= {"sacrebleu": chrf.version, "signature": chrf.signature}
    return about | {"splits": splits}


def _split(given: Opened, split: str, pairs: Pairs, source: Source, chrf: ChrF, batch_size: int) -> dict[str, Any]:
    """The scores of a split and its first translations."""
    run, machinery = given.run, given.machinery
    with computing(machinery):
        said = translations(
            run,
            pairs.sources,
            longest=run.config["context"],
            batch_size=batch_size,
            compiled=machinery.compile,
            watch=_progress(split, len(pairs.sources)),
        )
    asked, wanted = ([run.tokenizer.to_bytes(one) for one in side] for side in (pairs.sources, pairs.targets))
    scores = scored(said, wanted, source.allowed(asked), chrf)
    named = ("source", "reference", "translation")
    examples = [
        {name: text.decode("utf-8", "replace").strip() for name, text in zip(named, texts, strict=True)}
        for texts in list(zip(asked, wanted, said, strict=True))[:EXAMPLES]
    ]
    return scores.as_dict() | {"examples": examples}


def _progress(split: str, count: int) -> Callable[[int], None]:
    """Says about ten times on standard error how far it has come."""
    said = 0

    def watch(done: int) -> None:
        nonlocal said
        if done * 10 // count > said:
            said = done * 10 // count
            print(f"translated {done:,} of {count:,} pairs of {split}", file=sys.stderr, flush=True)

    return watch
