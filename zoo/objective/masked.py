import torch

from zoo.data.batch import Batch, TextBatch
from zoo.data.special import Special
from zoo.errors import UserError
from zoo.objective import Draws, Objective, Task, objectives
from zoo.traits import Traits

LEAST_RATE = 1e-3
"""Below it most batches would score nothing."""


@objectives.register("masked")
class Masked(Objective):
    """−Σ_{t ∈ M} log p(x_t | x with M hidden): each real token is in M with probability `rate`; of those, `mask` are
    replaced by the mask token, `random` by a random text token, the rest stay. Marks and padding are never in M.

    paper: Devlin et al. 2018, arXiv:1810.04805, section 3.1
    differs: M is drawn anew for every batch, from the seed and the step.
    """

    wants = "sees both sides"
    fills = True

    def __init__(
        self,
        *,
        rate: float = 0.15,
        mask: float = 0.8,
        random: float = 0.1,
        label_smoothing: float = 0.0,
        output_z: float = 0.0,
    ):
        super().__init__(label_smoothing, output_z)
        if not LEAST_RATE <= rate <= 1:
            raise UserError(f"objective.rate={rate} must be between {LEAST_RATE} and 1, so that something is predicted")
        if mask < 0 or random < 0 or mask + random > 1:
            raise UserError(f"objective.mask={mask} and random={random} must be shares that add up to at most 1")
        self.rate, self.mask, self.random = rate, mask, random

    @property
    def scored(self) -> float:
        return self.rate

    @classmethod
    def serves(cls, traits: Traits) -> bool:
        return not traits.generates

    def window(self, context: int) -> tuple[int, int]:
        return context, 0

    def prepare(self, batch: Batch, special: Special, traits: Traits, draws: Draws) -> Task:
        assert isinstance(batch, TextBatch)  # what it reads
        tokens, real = batch.tokens, batch.real
        text = tokens < special.start  # the marks come after the text ids
        candidates = text if real is None else text & real
        choice, fate, stranger = draws(tokens.shape[1], 3).unbind(-1)
        chosen = candidates & (choice < self.rate)
        strangers = (stranger * special.start).long()
        corrupt = tokens.masked_fill(chosen & (fate < self.mask), special.mask)
        swap = chosen & (fate >= self.mask) & (fate < self.mask + self.random)
        inputs = {"tokens": torch.where(swap, strangers, corrupt)}
        if real is not None:
            inputs["padding"] = real
        if batch.documents is not None:
            inputs["documents"] = batch.documents
        return Task(inputs, tokens, chosen.float())
