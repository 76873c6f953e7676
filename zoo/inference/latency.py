"""What generating costs, its two phases apart, by length of the prompt, by position and by batch."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from itertools import product
from statistics import median
from typing import Any

import torch
from torch import Tensor

from zoo.bare import bare
from zoo.inference.memory import PeakTensors
from zoo.inference.prompt import LEAST_ELEMENT, LEAST_TOKEN, Prompt, reading_bytes
from zoo.inference.sampling import Sampling
from zoo.inference.stream import stream_tokens
from zoo.luck import generator_for
from zoo.memory import refuse_beyond
from zoo.model import Model
from zoo.number import counted
from zoo.state import ModelState

Clock = Callable[[], float]
"""Seconds since some moment."""


@dataclass(frozen=True)
class Spread:
    """Median, smallest and largest over the repetitions."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        return cls(median(values), min(values), max(values))


@dataclass(frozen=True)
class At:
    """The time per output token around a position."""

    position: int
    seconds: Spread


@dataclass(frozen=True)
class Latency:
    """What one batch of prompts of one length costs, greedily and without a stop."""

    batch: int
    prompt: int
    """Tokens of each prompt; of the source, where one is read."""
    new_tokens: int
    first_token_seconds: Spread
    """TTFT: state made, prompt read, first token chosen."""
    token_seconds: Spread
    """TPOT: a later step, a mean over all of a repetition."""
    by_position: tuple[At, ...]
    tokens_per_second: Spread
    """Of all rows together, both phases."""
    state_bytes_counted: int
    state_bytes: int
    peak_bytes: int
    """Most bytes of tensors that lived at once, beside the weights."""

    def as_dict(self) -> dict[str, Any]:
        """For a file."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is measured: every length of `prompts` with every size of `batches`.

    warm_up: untimed repetitions before the timed ones
    compiled: whether steps run as one compiled program; making it is part of the warm-up
    """

    prompts: tuple[int, ...]
    batches: tuple[int, ...] = (1, 8, 32)
    new_tokens: int = 64
    repetitions: int = 5
    warm_up: int = 1
    compiled: bool = False


def measure(
    model: Model, plan: Plan, autocast: torch.dtype | None = None, clock: Clock = time.perf_counter
) -> Iterator[Latency]:
    """The costs by that clock, prompt by prompt, batch by batch. Raises UserError as `refuse_unmeasurable` does."""
    model = bare(model)
    refuse_unmeasurable(model, plan)
    for length, rows in product(plan.prompts, plan.batches):
        yield _one(model, plan, rows, length, autocast, clock)


def refuse_unmeasurable(model: Model, plan: Plan) -> None:
    """Raise UserError for a model that cannot go on, for prompts that do not fit, and for those whose reading and
    states are more than the memory there is."""
    model = bare(model)
    model.start(1, 1)
    for length, rows in product(plan.prompts, plan.batches):
        target, read = (1, length) if model.topology.traits.reads_source else (length, 0)
        state = LEAST_ELEMENT * model.state_elements(target + plan.new_tokens, read)
        refuse_beyond(
            reading_bytes(model, rows, target) + rows * (LEAST_TOKEN * read + state),
            model.head.out.weight.device,
            f"{counted(rows, 'prompt')} of {length:,} tokens and {plan.new_tokens:,} new tokens need",
            "make latency.prompts, latency.batches or latency.new_tokens smaller",
        )
        _prompt(model, 1, length).refuse_unless_fits(model, plan.new_tokens)


def _one(model: Model, plan: Plan, rows: int, length: int, autocast: torch.dtype | None, clock: Clock) -> Latency:
    prompt = _prompt(model, rows, length)
    device = prompt.tokens.device
    with nullcontext() if autocast is None else torch.autocast(device.type, autocast):
        for _ in range(plan.warm_up):
            _times(model, plan, prompt, clock)
        times = [_times(model, plan, prompt, clock) for _ in range(plan.repetitions)]
        with PeakTensors() as peak:
            state = _state(model, plan, prompt)
    kept = state.bytes()
    steps = [one[1:] for one in times]
    read = 0 if prompt.source is None else length
    elements = model.state_elements(prompt.tokens.shape[1] + plan.new_tokens, read)
    return Latency(
        batch=rows,
        prompt=length,
        new_tokens=plan.new_tokens,
        first_token_seconds=Spread.of([one[0] for one in times]),
        token_seconds=Spread.of([sum(one) / len(one) for one in steps]),
        by_position=tuple(_positions(steps, prompt.tokens.shape[1])),
        tokens_per_second=Spread.of([rows * plan.new_tokens / sum(one) for one in times]),
        state_bytes_counted=rows * elements * state.states()[0].tensors()[0].element_size(),
        state_bytes=kept,
        peak_bytes=peak.bytes,
    )


def _prompt(model: Model, rows: int, length: int) -> Prompt:
    """Tokens drawn evenly; an encoder–decoder reads them and goes on from one token."""
    generator = generator_for("latency", rows, length)
    tokens = torch.randint(model.vocabulary, (rows, length), generator=generator).to(model.head.out.weight.device)
    return Prompt(tokens[:, :1], None, tokens) if model.topology.traits.reads_source else Prompt(tokens)


def _times(model: Model, plan: Plan, prompt: Prompt, clock: Clock) -> list[float]:
    """Seconds of each step of one generation; the first reads the prompt."""
    wait = _waiter(prompt.tokens.device)
    wait()
    found, before = [], clock()
    for _ in _stream(model, plan, prompt):
        wait()
        now = clock()
        found.append(now - before)
        before = now
    return found


def _stream(model: Model, plan: Plan, prompt: Prompt) -> Iterator[Tensor]:
    luck = torch.zeros(len(prompt.tokens), plan.new_tokens)
    greedy = Sampling(temperature=0)
    return stream_tokens(
        model,
        prompt,
        max_new_tokens=plan.new_tokens,
        sampling=greedy,
        luck=luck,
        ends=None,
        compiled=plan.compiled,
    )


@torch.no_grad()
def _state(model: Model, plan: Plan, prompt: Prompt) -> ModelState:
    """The state after the prompt and one step, made for all new tokens."""
    was_training = model.training
    model.eval()
    state = model.start(len(prompt.tokens), prompt.tokens.shape[1] + plan.new_tokens)
    token = prompt.read(model, state).argmax(-1)
    if plan.new_tokens > 1:
        model(token[:, None], state=state)
    model.train(was_training)
    return state


def _positions(steps: Sequence[Sequence[float]], first: int, most: int = 16) -> Iterator[At]:
    """Means over at most 16 stretches of positions, each with its spread over the repetitions."""
    count = len(steps[0])
    width = max(1, -(-count // most))
    for start in range(0, count, width):
        part = slice(start, min(start + width, count))
        middle = first + 1 + (part.start + part.stop - 1) // 2
        yield At(middle, Spread.of([sum(one[part]) / len(one[part]) for one in steps]))


def _waiter(device: torch.device) -> Callable[[], None]:
    """Waits until the device has done what it was told."""
    return (lambda: None) if device.type == "cpu" else (lambda: torch.accelerator.synchronize(device))
