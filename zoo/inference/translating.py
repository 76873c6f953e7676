"""Many sources, translated greedily; what becomes of one does not depend on the batch that it falls into."""

from collections.abc import Callable, Sequence
from itertools import groupby

import numpy as np
import torch
from torch import Tensor

from zoo.inference.opening import objective_of, open_tokens
from zoo.inference.prompt import Prompt
from zoo.inference.sampling import Sampling
from zoo.inference.stream import stream_tokens
from zoo.run import Run


def translations(
    run: Run,
    sources: Sequence[Tensor],
    *,
    longest: int,
    batch_size: int,
    compiled: bool = False,
    watch: Callable[[int], None] = lambda done: None,
) -> list[bytes]:
    """The most probable token again and again, until the end mark or `longest` tokens (fewer where positions end), for
    each source of tokens. Marks and words that the tokenizer does not know are never said. `watch` is told after each
    batch how many are done."""
    special, traits = run.tokenizer.special, run.model.topology.traits
    prompts = [objective_of(run).opening(source, special, traits)[1] for source in sources]
    room = [_room(run, len(prompt), longest) for prompt in prompts]
    order = sorted(range(len(sources)), key=lambda i: (room[i], len(sources[i])))  # alike ones together: little padding
    found, done = [b""] * len(sources), 0
    for most, group in groupby(order, key=lambda i: room[i]):
        rows = list(group)
        for start in range(0, len(rows), batch_size):
            batch = rows[start : start + batch_size]
            said = _greedy(run, open_tokens(run, [sources[i] for i in batch]), most, compiled)
            for i, text in zip(batch, said, strict=True):
                found[i] = text
            done += len(batch)
            watch(done)
    return found


def _room(run: Run, prompt: int, longest: int) -> int:
    """How many tokens may follow a prompt of that length. The last one takes no position, since it is not read."""
    limit = run.model.limit
    return longest if limit is None else min(longest, limit + 1 - prompt)


def _greedy(run: Run, prompt: Prompt, longest: int, compiled: bool) -> list[bytes]:
    """What each row says."""
    prompt.refuse_unless_fits(run.model, longest)
    tokenizer = run.tokenizer
    special, unknown = tokenizer.special, np.flatnonzero(tokenizer.byte_lengths < 0).tolist()
    steps = stream_tokens(
        run.model,
        prompt,
        max_new_tokens=longest,
        sampling=Sampling(temperature=0, banned=(special.start, special.mask, *unknown)),
        luck=torch.zeros(len(prompt.tokens), longest),
        ends=lambda token: token == special.end,
        compiled=compiled,
    )
    rows = torch.stack(list(steps), 1).cpu()
    return [tokenizer.to_bytes(row[row >= 0]) for row in rows]
