"""The words of a generated corpus in the ids of a tokenizer."""

from functools import cached_property

import numpy as np
from jaxtyping import Int64

from zoo.data.generated import END, Documents, Generated
from zoo.data.tokenizer import Tokenizer


class Encoding:
    """Encodes each word of the source once and looks it up from then on, where the tokenizer says that a token always
    ends between a word and the next; elsewhere it is given the text."""

    def __init__(self, source: Generated, tokenizer: Tokenizer):
        self.source, self.tokenizer = source, tokenizer
        self.widths = np.array([len(one) for one in source.surfaces], dtype=np.int64)
        """How many bytes each word has."""
        texts = [one.decode("utf-8", "replace") for one in source.surfaces]
        first, last = ({character: i for i, character in enumerate({t[at] for t in texts if t})} for at in (0, -1))
        self._first = np.array([first[text[0]] if text else 0 for text in texts])
        self._last = np.array([last[text[-1]] if text else 0 for text in texts])
        self._ends = np.array([[tokenizer.ends_between(a, b) for b in first] for a in last], dtype=bool)

    def ids(self, documents: Documents) -> Int64[np.ndarray, "T"]:
        """The text of the documents, encoded."""
        said = documents.words[documents.words != END]
        if not self._ends[self._last[said[:-1]], self._first[said[1:]]].all():
            return self.tokenizer.encode(self.source.text(documents))
        ids, starts, counts = self._each
        count = counts[said]
        before = np.cumsum(count) - count
        return ids[np.repeat(starts[said] - before, count) + np.arange(count.sum())]

    @cached_property
    def _each(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The ids of all words, one after the other; where those of each start; how many they are."""
        ids = [self.tokenizer.encode(one) for one in self.source.surfaces]
        counts = np.array([len(one) for one in ids], dtype=np.int64)
        return np.concatenate(ids), np.cumsum(counts) - counts, counts
