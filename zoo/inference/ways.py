"""Three ways to a continuation: all rows step by step, each row with a draft that guesses ahead, a beam search."""

import math
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from zoo.inference.beam import beam_search
from zoo.inference.completion import Completion, Watch
from zoo.inference.prompt import Prompt, draw_luck
from zoo.inference.reading import Reading
from zoo.inference.sampling import Sampling
from zoo.inference.settings import Settings
from zoo.inference.speculative import Guesses, speculate
from zoo.inference.stream import NONE, stream_tokens
from zoo.luck import generator_for
from zoo.run import Run


def streamed(
    run: Run,
    rows: Sequence[str],
    prompt: Prompt,
    settings: Settings,
    sampling: Sampling,
    watch: Watch,
    compiled: bool,
) -> list[Completion]:
    """All rows in one batch; each prompt is read once."""
    readings, seeds = _readings(run, settings, len(rows)), _seeds(settings, len(rows))

    def ends(token: Tensor) -> Tensor:
        done = [reading.push(one) for reading, one in zip(readings, token.tolist(), strict=True)]
        return torch.tensor(done, device=token.device)

    for _ in stream_tokens(
        run.model,
        prompt,
        max_new_tokens=settings.max_new_tokens,
        sampling=sampling,
        luck=draw_luck(len(rows), settings.max_new_tokens, settings.seed, seeds),
        ends=ends,
        samples=settings.samples,
        compiled=compiled,
    ):
        watch(readings)
    return _closed(rows, readings, seeds, watch)


def guessed(
    run: Run,
    draft: Run,
    rows: Sequence[str],
    prompt: Prompt,
    settings: Settings,
    sampling: Sampling,
    watch: Watch,
    compiled: bool,
) -> list[Completion]:
    """One row after the other, with a draft."""
    readings, seeds = _readings(run, settings, len(rows)), _seeds(settings, len(rows))
    guesses = [Guesses() for _ in rows]
    for i, reading in enumerate(readings):
        for token in speculate(
            run.model,
            draft.model,
            prompt.row(i // settings.samples),
            max_new_tokens=settings.max_new_tokens,
            drafted=settings.drafted,
            sampling=sampling,
            luck=generator_for("guessing", seeds[i]),
            guesses=guesses[i],
            compiled=compiled,
        ):
            done = reading.push(token)
            watch(readings)
            if done:
                break
        reading.close()
    return [replace(one, guesses=own) for one, own in zip(_closed(rows, readings, seeds, watch), guesses, strict=True)]


def searched(
    run: Run, rows: Sequence[str], prompt: Prompt, settings: Settings, sampling: Sampling, compiled: bool
) -> list[Completion]:
    """The best `samples` texts of a beam search for each row."""
    end = run.tokenizer.special.end

    def ends(texts: Tensor) -> Tensor:
        done = texts[..., -1] == end
        if settings.stops:
            said = [_read(run, settings, text).ended is not None for text in texts.flatten(0, 1).tolist()]
            done = done | torch.tensor(said, device=texts.device).view_as(done)
        return done

    found = beam_search(
        run.model,
        prompt,
        max_new_tokens=settings.max_new_tokens,
        beams=settings.beams,
        length_penalty=settings.length_penalty,
        ends=ends,
        banned=sampling.banned,
        compiled=compiled,
    )
    completions = []
    for i, row in enumerate(rows):
        best = list(zip(found.tokens[i].tolist(), found.scores[i].tolist(), strict=True))
        for text, score in best[: settings.samples]:
            if score == -math.inf:  # there are not so many texts
                break
            reading = _read(run, settings, text)
            reading.close()
            completions.append(Completion.of(row, reading, score=score))
    return completions


def _readings(run: Run, settings: Settings, rows: int) -> list[Reading]:
    marks = {run.tokenizer.special.end: "end mark"}
    return [Reading(run.tokenizer, settings.stops, marks) for _ in range(rows)]


def _read(run: Run, settings: Settings, text: Sequence[int]) -> Reading:
    """What a text of tokens says until it ends, if it does."""
    (reading,) = _readings(run, settings, 1)
    for token in text:
        if token == NONE or reading.push(token):
            break
    return reading


def _seeds(settings: Settings, rows: int) -> list[int]:
    """Sample i of every prompt has the seed `seed + i`."""
    return [settings.seed + i % settings.samples for i in range(rows)]


def _closed(rows: Sequence[str], readings: Sequence[Reading], seeds: Sequence[int], watch: Watch) -> list[Completion]:
    for reading in readings:
        reading.close()
    watch(readings)
    return [Completion.of(row, reading, seed=seed) for row, reading, seed in zip(rows, readings, seeds, strict=True)]
