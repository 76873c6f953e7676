"""Go on from a prompt, token by token."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from zoo.errors import UserError
from zoo.inference.sampling import Sampling
from zoo.inputs import check_mask, check_tokens
from zoo.luck import generator_for
from zoo.model import Model

NONE = -1
"""Stands where a finished row has no token."""


def generate(
    model: Model,
    prompt: Int[Tensor, "B T"],
    *,
    max_new_tokens: int = 64,
    padding: Bool[Tensor, "B T"] | None = None,
    source: Int[Tensor, "B S"] | None = None,
    source_padding: Bool[Tensor, "B S"] | None = None,
    stop: Sequence[int] = (),
    seed: int = 0,
    seeds: Sequence[int] | None = None,
    **sampling: float | int | None,
) -> Int[Tensor, "B N"]:
    """The new tokens of each row, N ≤ max_new_tokens; after a token of `stop`, which is the row's last, a row has −1.

    prompt: tokens to go on from; padded on either side where `padding` (True = real) says so. An encoder–decoder reads
        `source` and goes on from `prompt`, usually the start mark alone; a prefix-LM sees all of its prompt at once
    sampling: the keys of `Sampling`: temperature, top_k, top_p, min_p, repetition_penalty
    seeds: a seed per row, in place of `seed` and the row's number: a row's tokens depend on its own seed only

    Raises UserError for an empty prompt, a row without a real token, a token outside the vocabulary, more positions
    than the position scheme can address, or a model that cannot go on.
    """
    stream = stream_tokens(
        model,
        prompt,
        max_new_tokens=max_new_tokens,
        padding=padding,
        source=source,
        source_padding=source_padding,
        stop=stop,
        seed=seed,
        seeds=seeds,
        sampling=Sampling(**sampling),  # type: ignore[arg-type]  # checked there
    )
    found = list(stream)
    return torch.stack(found, 1) if found else prompt.new_empty(len(prompt), 0)


@torch.no_grad()
def stream_tokens(
    model: Model,
    prompt: Int[Tensor, "B T"],
    *,
    max_new_tokens: int,
    padding: Bool[Tensor, "B T"] | None,
    source: Int[Tensor, "B S"] | None,
    source_padding: Bool[Tensor, "B S"] | None,
    stop: Sequence[int],
    seed: int,
    seeds: Sequence[int] | None,
    sampling: Sampling,
) -> Iterator[Int[Tensor, " B"]]:
    """`generate`, handing out each step's tokens (B,) as they come. The state is allocated once."""
    check_prompt(model, prompt, padding, max_new_tokens, stop)
    rows, length = prompt.shape
    luck = _luck(rows, max_new_tokens, seed, seeds)
    stops = torch.tensor(list(stop), device=prompt.device)
    state = model.start(rows, length + max_new_tokens)
    prefix = torch.ones_like(prompt, dtype=torch.bool) if model.topology.traits.takes_prefix else None
    seen = prompt if padding is None else prompt.masked_fill(~padding, NONE)
    done = torch.zeros(rows, dtype=torch.bool, device=prompt.device)
    was_training = model.training
    model.eval()
    try:
        logits = model(prompt, padding, source=source, source_padding=source_padding, prefix=prefix, state=state).logits
        last = _last(logits, padding)
        for step in range(max_new_tokens):
            token = sampling.choose(last, seen, luck[:, step].to(last.device)).masked_fill(done, NONE)
            yield token
            done = done | torch.isin(token, stops)
            if step + 1 == max_new_tokens or done.all():
                return
            seen = torch.cat([seen, token[:, None]], 1)
            last = model(token.clamp(min=0)[:, None], state=state).logits[:, -1]
    finally:
        model.train(was_training)


def check_prompt(model: Model, prompt: Any, padding: Any, max_new_tokens: Any, stop: Any) -> None:
    """Refuse what cannot be gone on from."""
    check_tokens(model, "the prompt", prompt)
    check_mask("padding", padding, prompt)
    if 0 in prompt.shape:
        raise UserError("the prompt is empty; give at least one row of at least one token, such as the start mark")
    if type(max_new_tokens) is not int or max_new_tokens < 0:
        raise UserError(f"max_new_tokens={max_new_tokens!r} must be a whole number, not negative")
    if isinstance(stop, str) or not isinstance(stop, Sequence) or not all(type(one) is int for one in stop):
        raise UserError(f"stop={stop!r} must be a list of token ids")
    if padding is not None and not padding.any(1).all():
        raise UserError("a row of the prompt has no real token; leave that row out")
    longest = prompt.shape[1] if padding is None else int(padding.sum(1).max())
    if model.limit is not None and longest + max(0, max_new_tokens - 1) > model.limit:
        raise UserError(
            f"a prompt of {longest} and {max_new_tokens} new tokens need more positions than the {model.limit} that the"
            " position scheme can address; ask for fewer, or train with another model/position"
        )


def _last(logits: Tensor, padding: Tensor | None) -> Tensor:
    """The logits at the last real position of each row, (B, V)."""
    if padding is None:
        return logits[:, -1]
    places = torch.arange(padding.shape[1], device=padding.device).expand_as(padding)
    last = places.masked_fill(~padding, -1).amax(1)
    return logits[torch.arange(len(logits), device=logits.device), last]


def _luck(rows: int, steps: int, seed: int, seeds: Sequence[int] | None) -> Tensor:
    """A uniform number for each row and step, from the row's own stream."""
    if seeds is not None and len(seeds) != rows:
        raise UserError(f"{len(seeds)} seeds for {rows} rows; give one per row")
    keys = [(seed, row) for row in range(rows)] if seeds is None else [(one,) for one in seeds]
    return torch.stack([torch.rand(steps, generator=generator_for("sampling", *key)) for key in keys])
