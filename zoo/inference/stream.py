"""The loop of generation: a token for every row, again and again."""

from collections.abc import Callable, Iterator

import torch
from jaxtyping import Float, Int
from torch import Tensor

from zoo.inference.compiled import CompiledStep
from zoo.inference.forecast import Forecast
from zoo.inference.prompt import Prompt
from zoo.inference.sampling import Sampling
from zoo.model import Model
from zoo.state import ModelState

NONE = -1
"""Stands where a finished row has no token."""

Ends = Callable[[Tensor], Tensor]
"""Told each step's tokens (R,), it says which rows end with them. None: no row ends by itself."""

GoOn = Callable[[Tensor, ModelState], Forecast]
"""One more token (R,) of every row to what comes after it."""


@torch.no_grad()
def stream_tokens(
    model: Model,
    prompt: Prompt,
    *,
    max_new_tokens: int,
    sampling: Sampling,
    luck: Float[Tensor, "R N"],
    ends: Ends | None,
    samples: int = 1,
    compiled: bool = False,
) -> Iterator[Int[Tensor, " R"]]:
    """Each step's tokens as they come, NONE for rows that have ended: `samples` rows for each row of the prompt, which
    is read once. The state is allocated once, and nothing in a step grows with what has been said but attention."""
    origins = torch.arange(len(prompt.tokens), device=prompt.tokens.device).repeat_interleave(samples)
    tokens, real = prompt.tokens[origins], None if prompt.padding is None else prompt.padding[origins]
    rows, length = tokens.shape
    luck = luck.to(tokens.device)
    state = model.start(len(prompt.tokens), length + max_new_tokens)
    seen = torch.full((rows, length + max_new_tokens), NONE, device=tokens.device)
    seen[:, :length] = tokens if real is None else tokens.masked_fill(~real, NONE)
    done = torch.zeros(rows, dtype=torch.bool, device=tokens.device)
    was_training = model.training
    model.eval()
    try:
        forecast = Forecast.of(prompt.read(model, state)[origins])
        state.reorder(origins)
        go_on = going_on(model, compiled)
        for step in range(max_new_tokens):
            token = sampling.choose(forecast, seen, luck[:, step])
            if ends is not None:
                token = token.masked_fill(done, NONE)
                done = done | ends(token)
            yield token
            if step + 1 == max_new_tokens or (ends is not None and done.all()):
                return
            if sampling.remembers:
                seen[:, length + step] = token
            forecast = go_on(token if ends is None else token.clamp(min=0), state)
    finally:
        model.train(was_training)


def going_on(model: Model, compiled: bool) -> GoOn:
    """How one generation takes its steps: as a compiled program from where the state holds enough for one, or not."""
    step: CompiledStep | None = None

    def go_on(tokens: Tensor, state: ModelState) -> Forecast:
        nonlocal step
        if step is None and compiled and CompiledStep.serves(state):
            step = CompiledStep.of(model, state)
        if step is not None:
            return step(tokens, state)
        return Forecast.of(model(tokens[:, None], state=state).logits[:, -1])

    return go_on
