"""What generation starts from, looked at before anything is computed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from zoo.errors import UserError
from zoo.inputs import check_mask, check_tokens
from zoo.luck import generator_for
from zoo.model import Model
from zoo.state import ModelState


@dataclass(frozen=True)
class Prompt:
    """Rows to go on from.

    tokens: padded on either side where `padding` (True = real) says so. A prefix-LM sees all of them at once
    source: what an encoder–decoder reads; it goes on from `tokens`, usually the start mark alone
    """

    tokens: Int[Tensor, "B T"]
    padding: Bool[Tensor, "B T"] | None = None
    source: Int[Tensor, "B S"] | None = None
    source_padding: Bool[Tensor, "B S"] | None = None

    def read(self, model: Model, state: ModelState) -> Float[Tensor, "B V"]:
        """Take the prompt into an empty state; the logits of the token after it."""
        prefix = torch.ones_like(self.tokens, dtype=torch.bool) if model.topology.traits.takes_prefix else None
        logits = model(
            self.tokens,
            self.padding,
            source=self.source,
            source_padding=self.source_padding,
            prefix=prefix,
            state=state,
        ).logits
        return _last(logits, self.padding)

    def row(self, i: int) -> "Prompt":
        """One row, without its padding."""
        kept = slice(None) if self.padding is None else self.padding[i]
        source = None
        if self.source is not None:
            source = self.source[i][slice(None) if self.source_padding is None else self.source_padding[i]][None]
        return Prompt(self.tokens[i][kept][None], None, source)

    def refuse_unless_fits(self, model: Model, max_new_tokens: Any) -> None:
        """Raise UserError for what that model cannot go on from by so many tokens."""
        check_tokens("the prompt", self.tokens, model.vocabulary)
        check_mask("padding", self.padding, self.tokens)
        if 0 in self.tokens.shape:
            raise UserError("the prompt is empty; give at least one row of at least one token, such as the start mark")
        if type(max_new_tokens) is not int or max_new_tokens < 0:
            raise UserError(f"max_new_tokens={max_new_tokens!r} must be a whole number, not negative")
        if self.padding is not None and not self.padding.any(1).all():
            raise UserError("a row of the prompt has no real token; leave that row out")
        longest = self.tokens.shape[1] if self.padding is None else int(self.padding.sum(1).max())
        if model.limit is not None and longest + max(0, max_new_tokens - 1) > model.limit:
            raise UserError(
                f"a prompt of {longest} and {max_new_tokens} new tokens need more positions than the {model.limit} that"
                " the position scheme can address; ask for fewer, or train with another model/position"
            )


def checked_stops(stop: Any) -> list[int]:
    """Token ids that end a row. Raises UserError for anything else."""
    if isinstance(stop, str) or not isinstance(stop, Sequence) or not all(type(one) is int for one in stop):
        raise UserError(f"stop={stop!r} must be a list of token ids")
    return list(stop)


def row_keys(rows: int, seed: int, seeds: Sequence[int] | None) -> list[tuple[int, ...]]:
    """What names the random stream of each row: its seed where each row has one, else `seed` and the row's number."""
    if seeds is not None and len(seeds) != rows:
        raise UserError(f"{len(seeds)} seeds for {rows} rows; give one per row")
    return [(seed, row) for row in range(rows)] if seeds is None else [(one,) for one in seeds]


def draw_luck(rows: int, steps: int, seed: int, seeds: Sequence[int] | None) -> Float[Tensor, "B N"]:
    """A uniform number for each row and step, from the row's own stream."""
    keys = row_keys(rows, seed, seeds)
    return torch.stack([torch.rand(steps, generator=generator_for("sampling", *key)) for key in keys])


def _last(logits: Tensor, padding: Tensor | None) -> Tensor:
    """The logits at the last real position of each row, (B, V)."""
    if padding is None:
        return logits[:, -1]
    places = torch.arange(padding.shape[1], device=padding.device).expand_as(padding)
    last = places.masked_fill(~padding, -1).amax(1)
    return logits[torch.arange(len(logits), device=logits.device), last]
