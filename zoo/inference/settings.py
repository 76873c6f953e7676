"""How a text is gone on with: what YAML may set, and `zoo.complete` takes."""

from dataclasses import dataclass

from zoo.errors import UserError
from zoo.inference.sampling import Sampling
from zoo.inference.speculative import DRAFTED

DRAWING = ("temperature", "top_k", "top_p", "min_p", "repetition_penalty")
"""The keys that `Sampling` has too."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Which continuations of a prompt are wanted.

    temperature, top_k, top_p, min_p, repetition_penalty: see `Sampling`
    beams: above 1, a beam search of that width in place of drawing; `samples` of its best texts are given
    length_penalty: see `beam_search`
    samples: how many for each prompt; sample i has the seed `seed + i`, and depends on nothing else in the batch; more
        than one where tokens are drawn, or beams looked for
    stop: texts that end a continuation, which is cut before them
    drafted: how many tokens a draft guesses at a time, where there is one
    """

    max_new_tokens: int = 64
    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    repetition_penalty: float = 1.0
    beams: int = 1
    length_penalty: float = 1.0
    samples: int = 1
    stop: str | tuple[str, ...] = ()
    seed: int = 0
    drafted: int = DRAFTED

    def __post_init__(self) -> None:
        if self.samples < 1:
            raise UserError(f"samples={self.samples} must be at least 1")
        if 1 < self.beams < self.samples:
            raise UserError(
                f"beams={self.beams} cannot give samples={self.samples}; ask for as many beams, or fewer texts"
            )
        if self.samples > 1 and self.temperature == 0 and self.beams == 1:
            raise UserError(
                f"samples={self.samples} would all say the same: at temperature=0 no token is drawn; set one"
                f" above 0, or beams={self.samples} for the most probable texts"
            )
        if not 0 <= self.seed <= (1 << 63) - self.samples:
            raise UserError(f"seed={self.seed} must be at least 0 and below 2^63 − samples")
        if "" in self.stops:
            raise UserError("stop has an empty text, which would end everything at once; leave it out")

    @property
    def stops(self) -> tuple[str, ...]:
        """The texts that end a continuation."""
        return (self.stop,) if isinstance(self.stop, str) else self.stop

    def sampling(self, banned: tuple[int, ...]) -> Sampling:
        """How tokens are drawn, never one of `banned`."""
        return Sampling(**{key: getattr(self, key) for key in DRAWING}, banned=banned)
