import torch
from torch import Tensor

from zoo.data.batch import Batch, Notes, PairBatch, TextBatch
from zoo.data.special import Special
from zoo.errors import UserError
from zoo.objective import Draws, Objective, Task, objectives
from zoo.traits import Traits

Cut = tuple[Tensor, Tensor, Tensor, Tensor]
"""x, which of it is real, y, which of it is real"""


@objectives.register("seq2seq")
class Seq2Seq(Objective):
    """−Σ_t log p(y_t | y_<t, x): a target y is predicted from a source x, given the true target so far.

    An encoder–decoder reads x in the encoder and `<start> y` in the decoder; a decoder-only or prefix-LM model reads
    `x <start> y` in one row, the prefix being `x <start>`. The scored tokens are the same: y, and a pair's end mark.
    source: share of a text window that becomes x, when the data is text and not pairs: y is its continuation

    paper: Sutskever et al. 2014, arXiv:1409.3215; Raffel et al. 2019, arXiv:1910.10683, section 3.2 (topologies)
    differs: nothing.
    """

    wants = "reads left to right"
    translates = True
    reads = frozenset({"text", "pairs"})
    of_text = frozenset({"source"})

    def __init__(self, *, source: float = 0.5, label_smoothing: float = 0.0, output_z: float = 0.0):
        super().__init__(label_smoothing, output_z)
        if not 0 < source < 1:
            raise UserError(f"objective.source={source} must be between 0 and 1")
        self.source = source

    @classmethod
    def serves(cls, traits: Traits) -> bool:
        return traits.generates

    def window(self, context: int) -> tuple[int, int]:
        if context < 2:
            raise UserError(
                f"budget.context={context} is too short to cut into a source and a target; set it to 2 or more"
            )
        return context, 0

    def prepare(self, batch: Batch, special: Special, traits: Traits, draws: Draws) -> Task:
        x, x_real, y, y_real = self._cut(batch) if isinstance(batch, TextBatch) else _closed(batch, special)
        notes = batch.notes
        if notes is not None:  # of y: what follows the cut of a text, or a target and the mark that closes it
            notes = notes.padded(0, 1) if isinstance(batch, PairBatch) else notes.after(x.shape[1])
        start = torch.full((len(y), 1), special.start)
        if traits.reads_source:
            inputs = {"tokens": torch.cat([start, y[:, :-1]], 1), "source": x, "source_padding": x_real}
            inputs["padding"] = torch.cat([torch.ones_like(start, dtype=torch.bool), y_real[:, 1:]], 1)
            return Task(inputs, y, y_real.float(), notes)
        return _in_front(x, x_real, start, y, y_real, traits, notes and notes.padded(x.shape[1], 0))

    def opening(self, text: Tensor, special: Special, traits: Traits) -> tuple[Tensor | None, Tensor]:
        """The text is x, and y begins after the start mark."""
        start = text.new_tensor([special.start])
        return (text, start) if traits.reads_source else (None, torch.cat([text, start]))

    def _cut(self, batch: TextBatch) -> Cut:
        """Window to (x, y) at a fixed place; only the document that the cut falls into counts."""
        tokens, real = batch.tokens, batch.real
        at = min(max(1, round(self.source * tokens.shape[1])), tokens.shape[1] - 1)
        if batch.documents is not None:
            same = batch.documents == batch.documents[:, at - 1 : at]
            real = same if real is None else same & real
        if real is None:
            real = torch.ones_like(tokens, dtype=torch.bool)
        return tokens[:, :at], real[:, :at], tokens[:, at:], real[:, at:]


def _closed(batch: PairBatch, special: Special) -> Cut:
    """A pair, its target followed by the end mark."""
    rows = torch.arange(len(batch.target))
    lengths = batch.target_real.sum(1)
    y = torch.nn.functional.pad(batch.target, (0, 1))
    y_real = torch.nn.functional.pad(batch.target_real, (0, 1))
    y[rows, lengths] = special.end
    y_real[rows, lengths] = True
    return batch.source, batch.source_real, y, y_real


def _in_front(
    x: Tensor, x_real: Tensor, start: Tensor, y: Tensor, y_real: Tensor, traits: Traits, notes: Notes | None
) -> Task:
    """One row `x <start> y`, in which the source is never scored; its padding all comes last, and only as much as the
    longest row needs, so that topologies which read the source in front compute no more positions than there are."""
    one = torch.ones_like(start, dtype=torch.bool)
    inputs = {"tokens": torch.cat([x, start, y[:, :-1]], 1), "padding": torch.cat([x_real, one, y_real[:, 1:]], 1)}
    if traits.takes_prefix:
        inputs["prefix"] = torch.cat([x_real, one, torch.zeros_like(y_real[:, 1:])], 1)
    targets = torch.cat([x, y], 1)
    weights = torch.cat([torch.zeros(x.shape), y_real.float()], 1)
    order = (~inputs["padding"]).long().argsort(dim=1, stable=True)
    order = order[:, : _width(inputs["padding"])]
    inputs = {key: value.gather(1, order) for key, value in inputs.items()}
    return Task(inputs, targets.gather(1, order), weights.gather(1, order), notes and notes.gather(order))


def _width(real: Tensor) -> int:
    """The positions of the longest row, up to a multiple of 8, so that there are few shapes."""
    return min(real.shape[1], -(-int(real.sum(1).max()) // 8) * 8)
