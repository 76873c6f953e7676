"""Every right translation of a sentence of the toy language: words in one order, some of them with a synonym."""

import re
from collections.abc import Sequence

import numpy as np

from zoo.data.generated import Documents
from zoo.data.toy.second import second
from zoo.data.toy.translation import SYNONYM, translate
from zoo.data.toy.words import SURFACES

WRITTEN = re.compile(rb" ?[^ .,:]+|[.,:]")
"""A word as `surface` writes it."""
BY_SURFACE = {surface: number for number, surface in enumerate(SURFACES)}


def allowed(sentences: Sequence[bytes]) -> list[Sequence[Sequence[bytes]]]:
    """For each sentence, the words that may stand at each place of its translation, the more frequent first. Raises
    KeyError for a word that is not of the language."""
    said = [BY_SURFACE[word] for sentence in sentences for word in WRITTEN.findall(sentence)]
    frequent, rare = (_translations(said, draw) for draw in (SYNONYM, 0))  # a draw below SYNONYM is the synonym
    surfaces = second().surfaces
    return [
        [tuple(dict.fromkeys((surfaces[a], surfaces[b]))) for a, b in zip(*pair, strict=True)]
        for pair in zip(frequent, rare, strict=True)
    ]


def _translations(said: Sequence[int], draw: int) -> list[list[int]]:
    """The words of each sentence's translation, when all draws between synonyms come out like this."""
    count = len(said)
    nothing = (np.zeros(count, np.float32), np.zeros(count, np.uint8), np.zeros(count, np.int64))
    text = Documents(np.array(said, dtype=np.int64), *nothing, np.array([0, count]))
    made = translate(text, np.full(count, draw, dtype=np.uint32))
    borders = made.offsets.tolist()
    return [made.words[a : b - 1].tolist() for a, b in zip(borders[1::2], borders[2::2], strict=True)]
