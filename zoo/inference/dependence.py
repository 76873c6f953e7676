"""Whether heads look at the very word that the next one depends on, where a corpus says which that is."""

from collections.abc import Sequence

import numpy as np
import torch

from zoo.data.building.store import Split
from zoo.inference.looking import look
from zoo.model import Model

Depends = dict[tuple[str, int], dict[str, float]]
"""By mixer and head, then by skill."""
EVEN = ("", 0)
"""The key of what a head would give that looks evenly at all it sees."""


def dependence(model: Model, split: Split, skills: Sequence[str], length: int, rows: int = 32) -> Depends:
    """The mean weight that a head gives, from the position that predicts a word, to the word that it depends on: the
    subject of a verb, the referent of a pronoun, the fact that is asked. Over the first `rows` stretches of `length`
    words of a split that has notes; words whose ground lies before the stretch are left out."""
    assert split.notes is not None
    sums: dict[tuple[str, int], dict[str, list[float]]] = {}
    device = model.head.out.weight.device
    for start in range(0, min(rows * length, len(split.tokens) - length + 1), length):
        part = slice(start, start + length)
        skill, distance = (split.notes[key][part].astype(np.int64) for key in ("skill", "distance"))
        place = np.arange(length)
        known = np.flatnonzero((distance > 0) & (place > 0) & (place - distance >= 0))
        queries, keys = known - 1, known - distance[known]
        seen = look(model, torch.from_numpy(split.tokens[part].astype(np.int64))[None].to(device))
        names = [skills[one] for one in skill[known]]
        _add(sums, EVEN, names, (1 / (queries + 1)).tolist())
        for one in seen.looked:
            for head, weights in enumerate(one.weights):
                _add(sums, (one.name, head), names, weights[queries, keys].tolist())
    return {key: {name: float(np.mean(values)) for name, values in own.items()} for key, own in sums.items()}


def _add(
    sums: dict[tuple[str, int], dict[str, list[float]]], key: tuple[str, int], names: list[str], values: list[float]
) -> None:
    own = sums.setdefault(key, {})
    for name, value in zip(names, values, strict=True):
        own.setdefault(name, []).append(value)
