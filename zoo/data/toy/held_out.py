"""Which split a sentence belongs to: by its words alone, so that no sentence is trained on and held out."""

import numpy as np
from jaxtyping import Int64, UInt64

from zoo.data.generated import Documents
from zoo.data.permutation import mix
from zoo.data.toy.words import ID

TENTHS = (8, 1, 1)
"""Of all sentences, in train, validation and test; the same ones whatever the seed."""
TRAINED = ("about", "in")
"""How sentences begin that are all in train: a topic, or a land and its city, stands in no other sentence. Held out,
it could not be known how it is translated."""


def of_split(pairs: Documents, split: int) -> Documents:
    """The pairs whose source belongs to the split. What a pair's target is worth given its source is as it was: it
    is the sources that are chosen among."""
    tenth = _sentence_keys(pairs)[::2] % np.uint64(sum(TENTHS))
    tenth[np.isin(pairs.words[pairs.offsets[:-1:2]], [ID[word] for word in TRAINED])] = 0
    first = sum(TENTHS[:split])
    return pairs.only(np.repeat((tenth >= first) & (tenth < first + TENTHS[split]), 2))


def source_words(pairs: Documents) -> Int64[np.ndarray, "P"]:
    """The words of each source, its end among them."""
    return np.diff(pairs.offsets)[::2]


def first_words(pairs: Documents, size: int) -> Documents:
    """The first pairs whose sources have at least `size` words; all, where they have fewer."""
    enough = int(np.searchsorted(np.cumsum(source_words(pairs)), size)) + 1
    return pairs.part(0, min(2 * enough, len(pairs.offsets) - 1))


def _sentence_keys(documents: Documents) -> UInt64[np.ndarray, "D"]:
    """A number for each document that its words and their order decide."""
    starts = documents.offsets[:-1]
    place = np.arange(len(documents.words)) - np.repeat(starts, np.diff(documents.offsets))
    each = mix(documents.words.astype(np.uint64) ^ mix(place.astype(np.uint64)))
    return mix(np.add.reduceat(each, starts)) if len(starts) else each
