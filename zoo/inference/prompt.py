"""What generation starts from, looked at before anything is computed."""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import index
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from zoo.bare import bare
from zoo.errors import UserError
from zoo.inputs import check_mask, check_tokens
from zoo.luck import generator_for
from zoo.memory import refuse_beyond
from zoo.model import Model
from zoo.number import counted
from zoo.state import ModelState

LEAST_ELEMENT, LEAST_TEXT, LEAST_TOKEN = 2, 500, 8
"""Bytes of a number of a state in the smallest dtype, of what is kept of a text on its way, and of a token."""


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
        """Take the prompt into an empty state; the logits of the token after it, the only ones that are computed."""
        prefix = torch.ones_like(self.tokens, dtype=torch.bool) if model.topology.traits.takes_prefix else None
        hidden, _ = model.read(
            self.tokens,
            self.padding,
            source=self.source,
            source_padding=self.source_padding,
            prefix=prefix,
            state=state,
        )
        return model.head(_last(hidden, self.padding)[:, None])[:, 0]

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
        if self.source is not None:
            check_tokens("source", self.source, model.vocabulary)
        check_mask("padding", self.padding, self.tokens)
        if 0 in self.tokens.shape:
            raise UserError("the prompt is empty; give at least one row of at least one token, such as the start mark")
        if type(max_new_tokens) is not int or max_new_tokens < 0:
            raise UserError(f"max_new_tokens={max_new_tokens!r} must be a whole number, not negative")
        self._refuse_empty_rows()
        longest = self.tokens.shape[1] if self.padding is None else int(self.padding.sum(1).max())
        if model.limit is not None and longest + max(0, max_new_tokens - 1) > model.limit:
            raise UserError(
                f"a prompt of {longest} and {max_new_tokens} new tokens need more positions than the {model.limit} that"
                " the position scheme can address; ask for fewer, or train with another model/position"
            )

    def refuse_beyond_memory(self, model: Model, new_tokens: int, wide: int, *, alone: bool) -> None:
        """Raise UserError where the states of `wide` texts for each row, or of one text if each is generated `alone`,
        the reading of a prompt, and what is kept of every text are more than the memory there is."""
        rows = len(self.tokens) * wide
        read = 0 if self.source is None else self.source.shape[1]
        state = LEAST_ELEMENT * model.state_elements(self.tokens.shape[1] + new_tokens, read)
        reading = reading_bytes(model, 1 if alone else len(self.tokens), self.tokens.shape[1])
        refuse_beyond(
            rows * LEAST_TEXT + (1 if alone else rows) * (state + new_tokens * LEAST_TOKEN) + reading,
            self.tokens.device,
            f"{counted(rows, 'text')} of {new_tokens:,} new tokens need",
            "make max_new_tokens, samples or beams smaller, or give fewer prompts",
        )

    def _refuse_empty_rows(self) -> None:
        """Raise UserError for a row that says nothing, or reads nothing."""
        check_mask("source_padding", self.source_padding, self.source)
        for name, tokens, real in (
            ("prompt", self.tokens, self.padding),
            ("source", self.source, self.source_padding),
        ):
            if tokens is not None and (0 in tokens.shape or (real is not None and not real.any(1).all())):
                raise UserError(f"a row of the {name} has no real token; leave that row out")


def reading_bytes(model: Model, rows: int, length: int) -> int:
    """Bytes of that many prompts, of their hidden states and of the logits after them, at the least: a prompt is read
    at once."""
    position = LEAST_TOKEN + LEAST_ELEMENT * model.head.out.in_features
    return rows * (length * position + LEAST_ELEMENT * model.vocabulary)


def bare_model(name: str, given: Any) -> Model:
    """The model itself, also of one that `torch.compile` wrapped. Raises UserError for anything else, such as the run
    that holds it."""
    model = bare(given) if isinstance(given, nn.Module) else given
    if not isinstance(model, Model):
        raise UserError(f"{name} must be a model, as zoo.load(path).model is one; got {type(given).__name__}")
    return model


def checked_stops(stop: Any, vocabulary: int) -> list[int]:
    """Token ids that end a row. Raises UserError for anything else."""
    if isinstance(stop, str) or not isinstance(stop, Sequence) or not all(type(one) is int for one in stop):
        raise UserError(f"stop={stop!r} must be a list of token ids")
    for one in stop:
        if not 0 <= one < vocabulary:
            raise UserError(f"stop has {one}, but the model's vocabulary is 0 to {vocabulary - 1}")
    return list(stop)


def row_keys(rows: int, seed: Any, seeds: Any) -> list[tuple[int, ...]]:
    """What names the random stream of each row: its seed where each row has one, else `seed` and the row's number.
    Raises UserError for what are no whole numbers, or not one for each row."""
    try:
        own = None if seeds is None else [index(one) for one in seeds]
        shared = index(seed)
    except TypeError:
        given = f"seed={seed!r}" if seeds is None else f"seeds={seeds!r}"
        raise UserError(f"{given}: a seed must be a whole number, and seeds a list of them") from None
    if own is not None and len(own) != rows:
        raise UserError(f"{len(own)} seeds for {rows} rows; give one per row")
    return [(shared, row) for row in range(rows)] if own is None else [(one,) for one in own]


def draw_luck(rows: int, steps: int, seed: int, seeds: Sequence[int] | None) -> Float[Tensor, "B N"]:
    """A uniform number for each row and step, from the row's own stream."""
    keys = row_keys(rows, seed, seeds)
    return torch.stack([torch.rand(steps, generator=generator_for("sampling", *key)) for key in keys])


def _last(hidden: Float[Tensor, "B T D"], padding: Bool[Tensor, "B T"] | None) -> Float[Tensor, "B D"]:
    """The hidden state at the last real position of each row."""
    if padding is None:
        return hidden[:, -1]
    places = torch.arange(padding.shape[1], device=padding.device).expand_as(padding)
    last = places.masked_fill(~padding, -1).amax(1)
    return hidden[torch.arange(len(hidden), device=hidden.device), last]
