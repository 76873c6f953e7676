"""The most probable continuations, looked for with a beam."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from zoo.inference.prompt import Prompt
from zoo.inference.sampling import Sampling
from zoo.inference.stream import NONE, going_on
from zoo.model import Model

EndsTexts = Callable[[Tensor], Tensor]
"""Told texts (B, C, N) of new tokens, it says which end with their last token, (B, C)."""


@dataclass(frozen=True)
class Beams:
    """The best texts found for each row, the best first; NONE after a text's end, score −∞ where there is no text."""

    tokens: Int[Tensor, "B W N"]
    scores: Float[Tensor, "B W"]


@torch.no_grad()
def beam_search(
    model: Model,
    prompt: Prompt,
    *,
    max_new_tokens: int,
    beams: int,
    length_penalty: float = 1.0,
    ends: EndsTexts,
    banned: tuple[int, ...] = (),
    compiled: bool = False,
) -> Beams:
    """The W = `beams` texts y of highest Σ_t log p(y_t | y_<t, x) / |y|^a that a beam of that width meets.

    In each step, every live text goes on with every token; of these, those among the W best that end are kept aside,
    the W best that do not end stay alive. At the last step all end. A row is done when no live text can get better than
    all that it kept. With a width of V^N nothing is dropped and the search is exhaustive.

    length_penalty a: 0 compares sums, 1 means per token
    banned: tokens that no text has

    paper: Koehn & Knowles 2017, arXiv:1706.03872, section 3.6 (sums divided by the length)
    differs: from Wu et al. 2016, arXiv:1609.08144, whose divisor is ((5 + |y|) / 6)^a, and who add a coverage term. It
        is what `transformers` computes with `early_stopping="never"`.
    """
    rows, length = prompt.tokens.shape
    state = model.start(rows, length + max_new_tokens)
    was_training = model.training
    model.eval()
    try:
        logits, go_on = prompt.read(model, state), going_on(model, compiled)
        search = _Search(rows, beams, max_new_tokens, length_penalty, prompt.tokens.device)
        state.reorder(search.origins)
        logits = logits[search.origins]
        nothing = logits.new_full((len(logits), 0), NONE, dtype=torch.long)
        for step in range(max_new_tokens):
            logp = Sampling(banned=banned).adjusted(logits.double(), nothing).log_softmax(-1)
            parents, token = search.step(step, logp, ends)
            if step + 1 == max_new_tokens or search.done.all():
                break
            state.reorder(parents)
            logits = go_on(token, state).logits
    finally:
        model.train(was_training)
    return Beams(search.kept, search.scores)


class _Search:
    """The live texts of every row and the ended ones that were kept."""

    def __init__(self, rows: int, width: int, longest: int, penalty: float, device: torch.device):
        self.rows, self.width, self.longest, self.penalty = rows, width, longest, penalty
        self.origins = torch.arange(rows, device=device).repeat_interleave(width)
        self.live = torch.full((rows, width, longest), NONE, device=device)
        self.sums = torch.full((rows, width), -torch.inf, dtype=torch.float64, device=device)
        self.sums[:, 0] = 0.0  # at first all texts are the same one
        self.kept = self.live.clone()
        self.scores = torch.full_like(self.sums, -torch.inf)
        self.done = torch.zeros(rows, dtype=torch.bool, device=device)

    def step(
        self, step: int, logp: Float[Tensor, "R V"], ends: EndsTexts
    ) -> tuple[Int[Tensor, " R"], Int[Tensor, " R"]]:
        """Every live text with every token. For each text that stays alive: the row of the state that it comes from,
        and its new token."""
        vocabulary = logp.shape[-1]
        total = (self.sums[..., None] + logp.view(self.rows, self.width, vocabulary)).flatten(1)
        last, candidates, enough = step + 1 == self.longest, self.width, False
        while not enough:  # any number of tokens may end a text
            candidates = min(2 * candidates, total.shape[1])
            sums, index = total.topk(candidates)
            parents, token = index // vocabulary, index % vocabulary
            texts = self.live.take_along_dim(parents[..., None], 1)
            texts[..., step] = token
            ended = torch.ones_like(sums, dtype=torch.bool) if last else ends(texts[..., : step + 1])
            alive = (~ended).sum(1) >= self.width
            enough = last or candidates == total.shape[1] or bool((alive | self.done).all())
        self._keep(sums / (step + 1) ** self.penalty, texts, ended)
        self.sums, chosen = sums.masked_fill(ended, -torch.inf).topk(min(self.width, sums.shape[1]))
        self.live = texts.take_along_dim(chosen[..., None], 1)
        self._finish()
        first = torch.arange(self.rows, device=index.device)[:, None] * self.width
        return (first + parents.take_along_dim(chosen, 1)).flatten(), token.take_along_dim(chosen, 1).flatten()

    def _keep(self, scores: Float[Tensor, "B C"], texts: Int[Tensor, "B C N"], ended: Bool[Tensor, "B C"]) -> None:
        """Ended texts among the best of this step, where they are better than those that were kept before."""
        counts = ended & (torch.arange(scores.shape[1], device=scores.device) < self.width) & ~self.done[:, None]
        both = torch.cat([self.scores, scores.masked_fill(~counts, -torch.inf)], 1)
        self.scores, chosen = both.topk(self.width)
        self.kept = torch.cat([self.kept, texts], 1).take_along_dim(chosen[..., None], 1)

    def _finish(self) -> None:
        """A row is done when its best live text, were all the rest of it certain, would not enter the kept ones."""
        possible = self.sums[:, 0] / self.longest**self.penalty
        self.done |= possible <= self.scores[:, -1]
