"""Things and noise in random order, every order as likely as the others."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from zoo.data.diagnostic import evenly
from zoo.data.diagnostic.draw import Draw


def interleave(draw: Draw, things: int, noise: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(D, things + noise): which places have a thing, how many stood before each, and −log p of each decision."""
    size = things + noise
    rows = np.arange(len(draw))[:, None]
    thing = np.zeros((len(draw), size), dtype=bool)
    thing[rows, draw.distinct(size, things)] = True
    before = np.cumsum(thing, axis=1) - thing
    left = size - np.arange(size)
    with np.errstate(divide="ignore"):
        floor = np.log(left) - np.log(np.where(thing, things - before, left - (things - before)))
    return thing, before, floor


def next_of_both(
    things: Sequence[int], things_left: int, noise: Sequence[int], noise_left: int
) -> dict[int, Fraction] | None:
    """The same for one document: what may come when so many are left of each; None when nothing is."""
    left = things_left + noise_left
    if not left:
        return None
    made = evenly(things, Fraction(things_left, left)) if things_left else {}
    return made | (evenly(noise, Fraction(noise_left, left)) if noise_left else {})
