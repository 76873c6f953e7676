"""What data hands to an objective: windows of text, or source–target pairs. True always means a real token."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import pad


@dataclass(frozen=True)
class Notes:
    """What is known about each token of a generated corpus: −log p under its source (`floor`, nats), the number of the
    skill it needs, how many words back that stands on which it depends, and how many tokens the word has that begins
    there (`width`; 0 inside a word)."""

    floor: Float[Tensor, "B T"]
    skill: Int[Tensor, "B T"]
    distance: Int[Tensor, "B T"]
    width: Int[Tensor, "B T"]

    def shifted(self) -> "Notes":
        """Without the first token, which nothing predicts."""
        return self.after(1)

    def after(self, first: int) -> "Notes":
        """From that column on."""
        return self._each(lambda part: part[:, first:])

    def at(self, columns: Int[Tensor, "B S"], there: Bool[Tensor, "B S"]) -> "Notes":
        """Those columns of each row; zeros where `there` is False."""
        return self._each(lambda part: part.gather(1, columns) * there)

    def padded(self, before: int, after: int) -> "Notes":
        """With that many more columns on each side: marks, which are certain words, and what is never scored."""
        nought, one = (partial(pad, pad=(before, after), value=value) for value in (0, 1))
        return Notes(nought(self.floor), nought(self.skill), nought(self.distance), one(self.width))

    def gather(self, order: Int[Tensor, "B N"]) -> "Notes":
        """The columns that `order` names, row by row."""
        return self._each(lambda part: part.gather(1, order))

    def _each(self, change: Callable[[Tensor], Tensor]) -> "Notes":
        return Notes(*map(change, (self.floor, self.skill, self.distance, self.width)))


@dataclass(frozen=True)
class TextBatch:
    """Windows of a token stream. `real` is None when no position is padding; `documents` numbers the document of each
    position, and is None when the corpus is one document. Evaluation batches of generated corpora have `notes`."""

    tokens: Int[Tensor, "B T"]
    real: Bool[Tensor, "B T"] | None = None
    documents: Int[Tensor, "B T"] | None = None
    notes: Notes | None = None


@dataclass(frozen=True)
class PairBatch:
    """Source and target texts, right-padded to a common length each, without start and end marks. Evaluation batches
    of generated corpora have `notes` on the target."""

    source: Int[Tensor, "B S"]
    source_real: Bool[Tensor, "B S"]
    target: Int[Tensor, "B T"]
    target_real: Bool[Tensor, "B T"]
    notes: Notes | None = None


Batch = TextBatch | PairBatch
