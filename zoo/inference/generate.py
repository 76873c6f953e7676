"""Go on from a prompt, token by token."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from zoo.errors import UserError
from zoo.inference.beam import beam_search
from zoo.inference.prompt import Prompt, bare_model, checked_stops, draw_luck, row_keys
from zoo.inference.sampling import Sampling
from zoo.inference.settings import DRAWING
from zoo.inference.speculative import DRAFTED, refuse_wrong_draft, speculate
from zoo.inference.stream import NONE, stream_tokens
from zoo.luck import generator_for
from zoo.model import Model
from zoo.registry import did_you_mean

MOST_BEAMS = 10_000
"""Wider searches are slips of the keyboard, and would go on for hours."""

MOST_PENALTY = 10
"""Larger powers of a length leave no difference between sums, or cannot be computed."""


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
    beams: int = 1,
    length_penalty: int | float = 1.0,
    draft: Model | None = None,
    drafted: int = DRAFTED,
    compiled: bool = False,
    **sampling: float | int | None,
) -> Int[Tensor, "B N"]:
    """The new tokens of each row, N ≤ max_new_tokens; after a token of `stop`, which is the row's last, a row has −1.

    prompt, padding, source, source_padding: see `Prompt`
    sampling: the keys of `Sampling`: temperature, top_k, top_p, min_p, repetition_penalty
    seeds: a seed per row, in place of `seed` and the row's number: a row's tokens depend on its own seed only
    beams: above 1, the best text that a search with so many beams finds, see `beam_search`; nothing is drawn
    draft: a smaller model that guesses `drafted` tokens at a time, see `speculate`; the distribution stays the same
    compiled: steps run as one compiled program (`CompiledStep`), made once per model and number of rows; of a draft
        and its model, those of the draft

    Raises UserError for an empty prompt, a row without a real token, a token outside the vocabulary, more positions
    than the position scheme can address, or a model that cannot go on.
    """
    model = bare_model("model", model)
    rows = Prompt(prompt, padding, source, source_padding)
    rows.refuse_unless_fits(model, max_new_tokens)
    stops, rule = checked_stops(stop, model.vocabulary), _rule(sampling)
    refuse_wrong_beams(beams, length_penalty, rule)
    refuse_wrong_draft(model, draft, drafted, beams)
    rows.refuse_beyond_memory(model, max_new_tokens, beams, alone=draft is not None)
    if draft is not None:
        draft = bare_model("the draft", draft)
        rows.refuse_unless_fits(draft, max_new_tokens)
        keys = row_keys(len(prompt), seed, seeds)
        return _drafted(model, draft, rows, max_new_tokens, stops, keys, drafted, rule, compiled)
    ends = torch.tensor(stops, device=prompt.device)
    if beams > 1:
        return _searched(model, rows, max_new_tokens, ends, beams, length_penalty, compiled)
    stream = stream_tokens(
        model,
        rows,
        max_new_tokens=max_new_tokens,
        sampling=rule,
        luck=draw_luck(len(prompt), max_new_tokens, seed, seeds),
        ends=(lambda token: torch.isin(token, ends)) if stops else None,
        compiled=compiled,
    )
    steps = list(stream)
    return torch.stack(steps, 1) if steps else prompt.new_empty(len(prompt), 0)


def _rule(given: Mapping[str, Any]) -> Sampling:
    """How tokens are drawn. Raises UserError for a key that says nothing of that."""
    for key in given:
        if key not in DRAWING:
            known = ", ".join(DRAWING)
            raise UserError(f"zoo.generate has no '{key}'{did_you_mean(key, DRAWING)}; tokens are drawn by {known}")
    return Sampling(**given)


def _searched(
    model: Model,
    prompt: Prompt,
    longest: int,
    ends: Tensor,
    beams: int,
    length_penalty: int | float,
    compiled: bool,
) -> Int[Tensor, "B N"]:
    """The best text that a beam search finds for each row."""
    found = beam_search(
        model,
        prompt,
        max_new_tokens=longest,
        beams=beams,
        length_penalty=length_penalty,
        ends=lambda texts: torch.isin(texts[..., -1], ends),
        compiled=compiled,
    ).tokens[:, 0]
    return found[:, : int((found >= 0).any(0).sum())]


def _drafted(
    model: Model,
    draft: Model,
    prompt: Prompt,
    longest: int,
    stops: list[int],
    keys: list[tuple[int, ...]],
    drafted: int,
    sampling: Sampling,
    compiled: bool,
) -> Int[Tensor, "B N"]:
    """`generate` with a draft, row by row."""
    found = []
    for i, key in enumerate(keys):
        said: list[int] = []
        row = prompt.row(i)
        luck = generator_for("guessing", *key)
        for token in speculate(
            model,
            draft,
            row,
            max_new_tokens=longest,
            drafted=drafted,
            sampling=sampling,
            luck=luck,
            compiled=compiled,
        ):
            said.append(token)
            if token in stops:
                break
        found.append(said)
    width = max(map(len, found))
    filled = [[*said, *[NONE] * (width - len(said))] for said in found]
    return torch.tensor(filled, dtype=torch.long, device=prompt.tokens.device).view(len(keys), width)


def refuse_wrong_beams(beams: Any, length_penalty: Any, sampling: Sampling) -> None:
    """Raise UserError for a search that is none, and for settings that a search does not heed."""
    if type(beams) is not int or beams < 1:
        raise UserError(f"beams={beams!r} must be a whole number, at least 1")
    if beams > MOST_BEAMS:
        raise UserError(f"a search has at most {MOST_BEAMS} beams, got beams={beams}")
    if type(length_penalty) not in (int, float) or not 0 <= length_penalty <= MOST_PENALTY:
        raise UserError(
            f"length_penalty={length_penalty!r} must be at least 0 and at most {MOST_PENALTY}; 1 compares texts by"
            " their mean per token"
        )
    if beams == 1 and length_penalty != 1:
        raise UserError(f"length_penalty={length_penalty} does nothing without beams; leave it out")
    default = Sampling(banned=sampling.banned)
    for name, value in vars(sampling).items():
        if beams > 1 and value != getattr(default, name):
            raise UserError(
                f"beams={beams} looks for the most probable text and draws nothing: leave out {name}={value}"
            )
