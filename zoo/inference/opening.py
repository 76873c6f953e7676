"""From texts to the rows that a run goes on from."""

import re
from collections.abc import Sequence

import torch
from torch import Tensor

from zoo.data.tokenizer import Tokenizer
from zoo.errors import UserError
from zoo.inference.prompt import Prompt
from zoo.objective import Objective, objectives
from zoo.run import Run
from zoo.schema import parse_option

BLANK = "[MASK]"
"""Stands for one token that is to be filled in: a byte, a character, a word or a piece of one, as the tokenizer has it.
Where the token of a word holds the space before it, so does the blank."""


def open_with(run: Run, texts: Sequence[str]) -> Prompt:
    """A row for each text, as the run's objective opens it; shorter ones are padded on the left. Raises UserError for a
    text that is empty or has what the run's tokenizer does not know."""
    return open_tokens(run, [encode(run.tokenizer, text) for text in texts])


def open_tokens(run: Run, texts: Sequence[Tensor]) -> Prompt:
    """The same of texts that are tokens already."""
    objective = objective_of(run)
    special, traits = run.tokenizer.special, run.model.topology.traits
    opened = [objective.opening(text, special, traits) for text in texts]
    device = run.model.head.out.weight.device
    tokens, real = padded([prompt for _, prompt in opened], device)
    sources = [source for source, _ in opened if source is not None]
    source, source_real = padded(sources, device) if sources else (None, None)
    return Prompt(tokens, real, source, source_real)


def objective_of(run: Run) -> Objective:
    """What the run was trained to do."""
    return objectives.build(parse_option("objective", run.config["objective"], "objective"))


def encode(tokenizer: Tokenizer, text: str, what: str = "the prompt") -> Tensor:
    """The ids of a text, all of which are known. Raises UserError, which calls the text `what`, otherwise."""
    if not isinstance(text, str):
        raise UserError(f"a prompt must be text, got {text!r}")
    if not text:
        raise UserError(f"{what} is empty; give some text")
    try:
        data = text.encode(
            "utf-8", "surrogateescape"
        )  # bytes of a command line that are not UTF-8 come back as they were
    except UnicodeEncodeError as error:
        raise UserError(f"{what} has half a character at place {error.start}; remove it") from None
    ids = tokenizer.encode(data)
    if (tokenizer.byte_lengths[ids] < 0).any():
        said = tokenizer.decode(ids)
        at = next((i for i, (a, b) in enumerate(zip(text, said, strict=False)) if a != b), 0)
        inside = tokenizer.takes_space and tokenizer.byte_lengths[tokenizer.encode(b" " + data)[0]] > 0
        word = (re.match(r"\s*\S+|\s+", text[at:]) or [text])[0]
        if BLANK in text[max(0, at + 1 - len(BLANK)) : at] + word:
            raise UserError(f"{BLANK} needs a run of objective=masked and a prompt; leave it out of {what}")
        advice = "begin with a space, since it was seen inside a text only" if inside and not at else "leave it out"
        raise UserError(
            f"the run's tokenizer does not know {word!r}, at character {at} of {what}, from its training text; {advice}"
        )
    return torch.from_numpy(ids)


def padded(rows: list[Tensor], device: torch.device) -> tuple[Tensor, Tensor | None]:
    """Rows of a common length, padded on the left, and which of it is real; None where all is."""
    longest = max(map(len, rows))
    tokens = torch.stack([torch.nn.functional.pad(row, (longest - len(row), 0)) for row in rows])
    real = torch.arange(longest) >= longest - torch.tensor([len(row) for row in rows])[:, None]
    return tokens.to(device), None if real.all() else real.to(device)
