"""A small model guesses, the large one checks many guesses at once: the same texts in fewer passes of the large one."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from zoo.errors import UserError
from zoo.inference.prompt import Prompt, bare_model
from zoo.inference.sampling import Sampling, draw_from
from zoo.inference.stream import NONE, GoOn, going_on
from zoo.model import Model
from zoo.state import ModelState

DRAFTED = 4
"""Tokens that are guessed at a time, unless another number is asked for."""


@dataclass
class Guesses:
    """How many tokens the draft proposed, and how many of them were kept."""

    proposed: int = 0
    kept: int = 0

    def __add__(self, other: "Guesses") -> "Guesses":
        return Guesses(self.proposed + other.proposed, self.kept + other.kept)

    def words(self) -> str:
        """For a person."""
        return f"{self.kept:,} of {self.proposed:,} guesses kept ({self.kept / max(1, self.proposed):.0%})"


@torch.no_grad()
def speculate(
    model: Model,
    draft: Model,
    prompt: Prompt,
    *,
    max_new_tokens: int,
    drafted: int,
    sampling: Sampling,
    luck: torch.Generator,
    guesses: Guesses | None = None,
    compiled: bool = False,
) -> Iterator[int]:
    """The new tokens of one row, distributed exactly as the model's own: x ~ q of the draft is kept with probability
    min(1, p(x) / q(x)); the first that is not kept is drawn anew from (p − q)₊, normalised; after `drafted` kept ones,
    one more comes from p. At temperature 0 the tokens are those of plain generation.

    Both p and q are what `sampling` makes of the logits. Rejected guesses are taken back from both states. `guesses`
    counts. `compiled`: the draft takes its steps as a compiled program; the model, which reads several tokens at a
    time, does not.

    paper: Leviathan et al. 2023, arXiv:2211.17192; Chen et al. 2023, arXiv:2302.01318
    differs: nothing; it goes row by row, since rows keep different numbers of guesses.
    """
    modes = [(one, one.training) for one in (model, draft)]
    for one, _ in modes:
        one.eval()
    try:
        guesses = Guesses() if guesses is None else guesses
        pair = _Pair(model, draft, prompt, max_new_tokens, drafted, sampling, luck, guesses, going_on(draft, compiled))
        yield from pair.tokens()
    finally:
        for one, was_training in modes:
            one.train(was_training)


class _Pair:
    """Model and draft with their states. Both have taken in the text but for its last token; the draft may lack one
    more."""

    def __init__(
        self,
        model: Model,
        draft: Model,
        prompt: Prompt,
        longest: int,
        drafted: int,
        sampling: Sampling,
        luck: torch.Generator,
        guesses: Guesses,
        go_on: GoOn,
    ):
        self.go_on = go_on
        self.model, self.draft, self.sampling, self.guesses = model, draft, sampling, guesses
        self.longest, self.drafted = longest, drafted
        self.length = prompt.tokens.shape[1]
        self.luck = luck
        room = self.length + longest
        self.text = torch.full((1, room), NONE, device=prompt.tokens.device)
        self.text[:, : self.length] = prompt.tokens
        self.state, self.draft_state = (one.start(1, room, drafted) for one in (model, draft))
        self.first = prompt.read(model, self.state)
        prompt.read(draft, self.draft_state)

    def tokens(self) -> Iterator[int]:
        """One token from the prompt, then as many at a time as guesses are kept, and one."""
        if not self.longest:
            return
        begun = self.length
        yield self._add(draw_from(self.sampling.distribution(self.first, self.text), self._uniform()))
        while (left := self.longest - (self.length - begun)) > 0:
            count = min(self.drafted, left - 1)
            before = self.length
            q = self._guess(count)
            p = self._check(before, count)
            kept, token = self._keep(before, p, q)
            self.guesses.proposed += count
            self.guesses.kept += kept
            self._take_back(before, kept, token)
            yield from (int(one) for one in self.text[0, before : self.length])

    def _uniform(self) -> Float[Tensor, " 1"]:
        return torch.rand(1, generator=self.luck).to(self.text.device)

    def _add(self, token: Int[Tensor, " 1"]) -> int:
        self.text[:, self.length] = token
        self.length += 1
        return int(token)

    def _unread(self, state: ModelState) -> Int[Tensor, "1 N"]:
        """The tokens of the text that a state has not taken in. A state counts the prompt's columns as its own."""
        return self.text[:, state.history.length : self.length]

    def _guess(self, count: int) -> list[Float[Tensor, "1 V"]]:
        """Add `count` tokens of the draft to the text; what each was drawn from."""
        found = []
        for _ in range(count):
            unread = self._unread(self.draft_state)
            if unread.shape[1] == 1:
                logits = self.go_on(unread[:, 0], self.draft_state).logits
            else:
                logits = self.draft(unread, state=self.draft_state).logits[:, -1]
            found.append(self.sampling.distribution(logits, self.text[:, : self.length]))
            self._add(draw_from(found[-1], self._uniform()))
        return found

    def _check(self, before: int, count: int) -> list[Float[Tensor, "1 V"]]:
        """What the model itself would have drawn each guess from, and the token after them."""
        logits = self.model(self._unread(self.state), state=self.state).logits[0]
        return [
            self.sampling.distribution(logits[i - count - 1][None], self.text[:, : before + i])
            for i in range(count + 1)
        ]

    def _keep(self, before: int, p: list[Tensor], q: list[Tensor]) -> tuple[int, Int[Tensor, " 1"]]:
        """How many guesses are kept, and the token after them."""
        for i, (wanted, drawn_from) in enumerate(zip(p, q, strict=False)):
            guess = self.text[0, before + i]
            if self._uniform() * drawn_from[0, guess] >= wanted[0, guess]:
                rest = (wanted - drawn_from).clamp(min=0)
                return i, draw_from(rest if rest.sum() > 0 else wanted, self._uniform())
        return len(q), draw_from(p[-1], self._uniform())

    def _take_back(self, before: int, kept: int, token: Int[Tensor, " 1"]) -> None:
        """Go on after the kept guesses with that token; both states forget the others."""
        self.text[:, before + kept :] = NONE
        self.length = before + kept
        for state in (self.state, self.draft_state):
            state.truncate(min(state.history.length, self.length))
        self._add(token)


def refuse_wrong_draft(model: Model, draft: Any, drafted: Any, beams: int = 1) -> None:
    """Raise UserError for a draft whose guesses the model cannot check, and for a number of guesses that none makes."""
    if type(drafted) is not int or drafted < 1:
        raise UserError(f"drafted={drafted!r} must be a whole number, at least 1")
    if draft is None:
        if drafted != DRAFTED:
            raise UserError(f"drafted={drafted} does nothing without a draft; leave it out")
        return
    draft = bare_model("the draft", draft)
    if beams > 1:
        raise UserError("a beam search has no use for a draft; leave out draft, or set beams=1")
    if draft.vocabulary != model.vocabulary:
        raise UserError(f"the draft has a vocabulary of {draft.vocabulary}, the model one of {model.vocabulary}")
    if draft.topology.traits.reads_source != model.topology.traits.reads_source:
        raise UserError("of draft and model, one reads a source and one does not; choose two that read alike")
