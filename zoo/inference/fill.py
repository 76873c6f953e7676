"""Masked models fill blanks."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from zoo.data.tokenizer import Tokenizer
from zoo.errors import UserError
from zoo.inference.forecast import Forecast
from zoo.inference.opening import BLANK, encode, objective_of, padded
from zoo.inference.sampling import Sampling
from zoo.luck import generator_for
from zoo.model import Model
from zoo.run import Run, bare_run
from zoo.schema import typed

Order = Literal["confidence", "together"]


@dataclass(frozen=True, kw_only=True)
class Filling:
    """How blanks are filled.

    temperature, top_k, top_p, min_p: see `Sampling`; at temperature 0 each blank gets its most probable token
    samples: how many texts, where tokens are drawn; sample i has the seed `seed + i`
    order: confidence fills one blank after the other, each time the one whose best token is most probable, given what
        was filled before; together fills all at once, each as if it were the only one
    """

    temperature: float = 0.0
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    samples: int = 1
    seed: int = 0
    order: Order = "confidence"

    def __post_init__(self) -> None:
        if self.samples < 1:
            raise UserError(f"samples={self.samples} must be at least 1")
        if self.samples > 1 and self.temperature == 0:
            raise UserError(
                f"samples={self.samples} would all say the same: at temperature=0 no token is drawn; set one above 0"
            )
        if not 0 <= self.seed <= (1 << 63) - self.samples:
            raise UserError(f"seed={self.seed} must be at least 0 and below 2^63 − samples")


@dataclass(frozen=True)
class Filled:
    """A text without blanks, and what stands in them."""

    prompt: str
    text: str
    blanks: tuple[str, ...]
    seed: int

    def as_dict(self) -> dict[str, Any]:
        """For a file."""
        return asdict(self)


def fill(run: Run, text: str | Sequence[str], **settings: Any) -> list[str]:
    """The text, or each of several, with its blanks `[MASK]` filled by a masked model, `samples` times in turn.

    settings: the keys of `Filling`: temperature, top_k, top_p, min_p, samples, seed, order
    """
    asked = Filling(**typed(Filling, settings, "zoo.fill", "zoo.fill"))
    texts = list(text) if isinstance(text, Sequence) and not isinstance(text, str) else [text]
    return [one.text for one in fillings(run, texts, asked)]


def fillings(run: Run, texts: Sequence[str], settings: Filling) -> list[Filled]:
    """`fill` with what was filled in. Raises UserError for a text without a blank, and for a run that was not
    trained to fill any."""
    run = bare_run("run", run)
    if not objective_of(run).fills:
        raise UserError("this run was not trained to fill blanks (objective=masked); zoo.complete goes on from a text")
    special = run.tokenizer.special
    rows = [text for text in texts for _ in range(settings.samples)]
    if not rows:
        raise UserError("there is no text; give at least one")
    encoded = [encode_blanks(run.tokenizer, text) for text in rows]
    tokens, real = padded(encoded, run.model.head.out.weight.device)
    seeds = [settings.seed + i % settings.samples for i in range(len(rows))]
    keys = ("temperature", "top_k", "top_p", "min_p")
    marks = (special.start, special.end, special.mask)
    filled = fill_tokens(
        run.model,
        tokens,
        real,
        tokens == special.mask,
        sampling=Sampling(**{key: getattr(settings, key) for key in keys}, banned=marks),
        luck=_luck(encoded, seeds, tokens.shape[1]),
        order=settings.order,
    )
    found = []
    for i, (text, before, seed) in enumerate(zip(rows, encoded, seeds, strict=True)):
        after = filled[i, tokens.shape[1] - len(before) :].cpu()
        blanks = tuple(run.tokenizer.decode([one]) for one in after[before == special.mask].tolist())
        found.append(Filled(text, run.tokenizer.decode(after), blanks, seed))
    return found


def _luck(rows: Sequence[Tensor], seeds: Sequence[int], width: int) -> Float[Tensor, "B T"]:
    """A uniform number for each place of a row that is padded on the left."""
    drawn = [
        torch.rand(len(row), generator=generator_for("filling", seed)) for row, seed in zip(rows, seeds, strict=True)
    ]
    return torch.stack([torch.nn.functional.pad(one, (width - len(one), 0)) for one in drawn])


@torch.no_grad()
def fill_tokens(
    model: Model,
    tokens: Int[Tensor, "B T"],
    padding: Bool[Tensor, "B T"] | None,
    blank: Bool[Tensor, "B T"],
    *,
    sampling: Sampling,
    luck: Float[Tensor, "B T"],
    order: Order,
) -> Int[Tensor, "B T"]:
    """The tokens with their blanks filled, each drawn by the luck of its place.

    paper: Ghazvininejad et al. 2019, arXiv:1904.09324 (filling by confidence)
    differs: a blank that was filled is not asked again.
    """
    tokens, blank, luck = tokens.clone(), blank.clone(), luck.to(tokens.device)
    was_training = model.training
    model.eval()
    try:
        while blank.any():
            rows, places = blank.nonzero(as_tuple=True)
            hidden, nothing = model.read(tokens, padding)[0][blank], tokens.new_empty(len(rows), 0)
            logits = model.head(hidden[None])[0]  # of no other places
            chosen = sampling.choose(Forecast.of(logits), nothing, luck[blank])
            if order == "together":
                tokens[blank] = chosen
                break
            best = torch.full(blank.shape, -1.0, dtype=torch.float64, device=tokens.device)
            best[blank] = sampling.adjusted(logits.double(), nothing).softmax(-1).amax(-1)
            first = torch.zeros_like(blank).scatter_(1, best.argmax(1, keepdim=True), True) & blank
            tokens[first] = chosen[first[rows, places]]
            blank &= ~first
    finally:
        model.train(was_training)
    return tokens


def encode_blanks(tokenizer: Tokenizer, text: str) -> Int[Tensor, " T"]:
    """The ids of a text with the mask mark at its blanks. Raises UserError for a text without one."""
    if not isinstance(text, str):
        raise UserError(f"a text must be text, got {text!r}")
    pieces = text.split(BLANK)
    if len(pieces) == 1:
        raise UserError(f"this run fills blanks, it does not go on from a text: write {BLANK} where a token is missing")
    found: list[Tensor] = []
    for i, piece in enumerate(pieces):
        if i:
            found.append(torch.tensor([tokenizer.special.mask]))
        if tokenizer.takes_space and i + 1 < len(pieces):
            piece = piece.removesuffix(" ")
        if piece:
            found.append(encode(tokenizer, piece))
    return torch.cat(found)
