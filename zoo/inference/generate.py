"""Go on from a prompt, token by token."""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from zoo.inference.prompt import Prompt, checked_stops, draw_luck
from zoo.inference.sampling import Sampling
from zoo.inference.stream import stream_tokens
from zoo.model import Model


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
    compiled: bool = False,
    **sampling: float | int | None,
) -> Int[Tensor, "B N"]:
    """The new tokens of each row, N ≤ max_new_tokens; after a token of `stop`, which is the row's last, a row has −1.

    prompt, padding, source, source_padding: see `Prompt`
    sampling: the keys of `Sampling`: temperature, top_k, top_p, min_p, repetition_penalty
    seeds: a seed per row, in place of `seed` and the row's number: a row's tokens depend on its own seed only
    compiled: steps run as one compiled program (`CompiledStep`), made once per model and number of rows

    Raises UserError for an empty prompt, a row without a real token, a token outside the vocabulary, more positions
    than the position scheme can address, or a model that cannot go on.
    """
    rows = Prompt(prompt, padding, source, source_padding)
    rows.refuse_unless_fits(model, max_new_tokens)
    stops = torch.tensor(checked_stops(stop), device=prompt.device)
    stream = stream_tokens(
        model,
        rows,
        max_new_tokens=max_new_tokens,
        sampling=Sampling(**sampling),  # type: ignore[arg-type]  # checked there
        luck=draw_luck(len(prompt), max_new_tokens, seed, seeds),
        ends=(lambda token: torch.isin(token, stops)) if stops.numel() else None,
        compiled=compiled,
    )
    found = list(stream)
    return torch.stack(found, 1) if found else prompt.new_empty(len(prompt), 0)
