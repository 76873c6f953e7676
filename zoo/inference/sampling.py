"""From logits to a token: what may be drawn, and the draw."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from zoo.errors import UserError
from zoo.inference.forecast import Forecast

SMALLEST = 1e-3
"""Of temperatures and penalties: what is smaller would only overflow."""

OPTIONAL = ("top_k", "top_p", "min_p")
"""Filters that can be left out."""


@dataclass(frozen=True)
class Sampling:
    """p ∝ exp(logits / temperature) over the tokens that every filter lets through.

    temperature: 0 takes the best token
    top_k: only the k best tokens, and those as good as the last of them
    top_p: only the best tokens that together have probability p, and at least the best (nucleus)
    min_p: only tokens with at least that share of the best token's probability
    repetition_penalty: logits of tokens that the row has already are divided by it when positive, multiplied when not
    banned: tokens that are never drawn

    Filters act on the tempered distribution, in the order above.

    paper: Holtzman et al. 2019, arXiv:1904.09751 (top-p); Fan et al. 2018, arXiv:1805.04833 (top-k); Nguyen et al.
        2024, arXiv:2407.01082 (min-p); Keskar et al. 2019, arXiv:1909.05858 (repetition penalty)
    differs: nothing.
    """

    temperature: int | float = 1.0
    top_k: int | None = None
    top_p: int | float | None = None
    min_p: int | float | None = None
    repetition_penalty: int | float = 1.0
    banned: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if name == "banned":
                continue
            kinds = (int,) if name == "top_k" else (int, float)
            if isinstance(value, bool) or (not isinstance(value, kinds) and not (value is None and name in OPTIONAL)):
                raise UserError(f"{name}={value!r} must be a {'whole ' if name == 'top_k' else ''}number")
        rules = [
            (
                self.temperature == 0 or SMALLEST <= self.temperature <= 1 / SMALLEST,
                f"temperature={self.temperature} must be 0 (the best token) or between {SMALLEST} and {1 / SMALLEST:g}",
            ),
            (self.top_k is None or self.top_k >= 1, f"top_k={self.top_k} must be at least 1"),
            (self.top_p is None or 0 < self.top_p <= 1, f"top_p={self.top_p} must be above 0 and at most 1"),
            (self.min_p is None or 0 <= self.min_p <= 1, f"min_p={self.min_p} must be between 0 and 1"),
            (
                SMALLEST <= self.repetition_penalty <= 1 / SMALLEST,
                f"repetition_penalty={self.repetition_penalty} must be between {SMALLEST} and {1 / SMALLEST:g}",
            ),
        ]
        idle = [f"{name}={getattr(self, name)}" for name in OPTIONAL if getattr(self, name) is not None]
        if self.temperature == 0 and idle:
            rules.append((False, f"{idle[0]} does nothing at temperature=0, where no token is drawn; leave it out"))
        for right, message in rules:
            if not right:
                raise UserError(message)

    def choose(self, forecast: Forecast, seen: Int[Tensor, "B T"], luck: Float[Tensor, " B"]) -> Int[Tensor, " B"]:
        """A token for each row; `luck` is one uniform number per row, so that a row's tokens depend on no other row.
        `seen` are the tokens the row has, −1 for none. Raises UserError for logits that are not numbers."""
        if self.temperature:
            return draw_from(self.probabilities(self.adjusted(forecast.logits.double(), seen)), luck)
        if self.remembers or self.banned:
            return self.adjusted(forecast.logits, seen).max(-1).indices
        _refuse_no_numbers(forecast.logits, forecast.total)
        return forecast.best

    @property
    def remembers(self) -> bool:
        """Whether what a row has already said changes what it says next."""
        return self.repetition_penalty != 1

    def adjusted(self, logits: Float[Tensor, "B V"], seen: Int[Tensor, "B T"]) -> Float[Tensor, "B V"]:
        """The logits with penalties, −∞ where a token is banned. Raises UserError for logits that are not numbers."""
        _refuse_no_numbers(logits, logits.detach().sum())
        logits = self._penalised(logits, seen)
        if self.banned:
            logits = logits.index_fill(-1, torch.tensor(self.banned, device=logits.device), -torch.inf)
        return logits

    def distribution(self, logits: Float[Tensor, "B V"], seen: Int[Tensor, "B T"]) -> Float[Tensor, "B V"]:
        """What `choose` draws from, in float64; at temperature 0 all of it lies on the best token."""
        logits = self.adjusted(logits.double(), seen)
        if self.temperature == 0:
            return torch.zeros_like(logits).scatter_(-1, logits.argmax(-1, keepdim=True), 1.0)
        return self.probabilities(logits)

    def probabilities(self, logits: Float[Tensor, "B V"]) -> Float[Tensor, "B V"]:
        """The distribution that is drawn from, at a temperature above 0."""
        p = (logits.double() / self.temperature).softmax(-1)
        if self.top_k is not None and self.top_k < p.shape[-1]:
            p = p.masked_fill(p < p.topk(self.top_k).values[:, -1:], 0.0)
        if self.top_p is not None:
            p = self._nucleus(p / p.sum(-1, keepdim=True), self.top_p)
        if self.min_p is not None:
            p = p.masked_fill(p < self.min_p * p.amax(-1, keepdim=True), 0.0)
        return p / p.sum(-1, keepdim=True)

    def _nucleus(self, p: Float[Tensor, "B V"], top_p: int | float) -> Float[Tensor, "B V"]:
        """A token stays while those better than it have less than top_p together."""
        best, order = p.sort(dim=-1, descending=True, stable=True)
        better = best.cumsum(-1) - best
        kept = torch.empty_like(p, dtype=torch.bool).scatter_(-1, order, better < top_p)
        return p.masked_fill(~kept, 0.0)

    def _penalised(self, logits: Float[Tensor, "B V"], seen: Int[Tensor, "B T"]) -> Float[Tensor, "B V"]:
        if not self.remembers:
            return logits
        has = torch.zeros(logits.shape[0], logits.shape[1] + 1, dtype=torch.bool, device=logits.device)
        has = has.scatter_(1, seen + 1, True)[:, 1:]  # column 0 takes what is no token
        weaker = torch.where(logits > 0, logits / self.repetition_penalty, logits * self.repetition_penalty)
        return torch.where(has, weaker, logits)


def _refuse_no_numbers(logits: Float[Tensor, "B V"], total: Float[Tensor, ""]) -> None:
    """Raise UserError unless all are finite, which their sum nearly always tells."""
    if not math.isfinite(total.item()) and not logits.isfinite().all():
        raise UserError("the model's logits are not finite, so no token can be drawn; was its training diverging?")


def draw_from(p: Float[Tensor, "B V"], luck: Float[Tensor, " B"]) -> Int[Tensor, " B"]:
    """The token at which the summed shares of a row pass its luck."""
    shares = p.cumsum(-1)
    drawn = torch.searchsorted(shares, luck.double()[:, None] * shares[:, -1:], right=True).squeeze(-1)
    return drawn.clamp(max=p.shape[-1] - 1)  # a draw of almost 1 may round to the end
