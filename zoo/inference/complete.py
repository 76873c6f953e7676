"""Texts in, texts out: what a run says after a prompt."""

from collections.abc import Sequence
from typing import Any

from zoo.errors import UserError
from zoo.inference.completion import Completion, Watch, watch_nothing
from zoo.inference.generate import refuse_wrong_beams
from zoo.inference.opening import objective_of, open_with
from zoo.inference.settings import Settings
from zoo.inference.speculative import refuse_wrong_draft
from zoo.inference.ways import guessed, searched, streamed
from zoo.run import Run, bare_run
from zoo.schema import typed


def complete(run: Run, text: str | Sequence[str], *, draft: Run | None = None, **settings: Any) -> list[str]:
    """What `run` (from `zoo.load`) says after a text, or after each of several: `samples` texts for each in turn.

    draft: a smaller run with the same tokenizer that guesses ahead; it changes the speed and no probability
    settings: the keys of `Settings`: max_new_tokens, temperature, top_k, top_p, min_p, repetition_penalty, beams,
        length_penalty, samples, stop (texts), seed, drafted
    """
    asked = Settings(**typed(Settings, settings, "zoo.complete", "zoo.complete"))
    prompts = list(text) if isinstance(text, Sequence) and not isinstance(text, str) else [text]
    return [one.text for one in continuations(run, prompts, asked, draft)]


def continuations(
    run: Run,
    prompts: Sequence[str],
    settings: Settings,
    draft: Run | None = None,
    watch: Watch = watch_nothing,
    *,
    compiled: bool = False,
) -> list[Completion]:
    """`settings.samples` continuations of each prompt in turn; of a beam search, the best that it found.

    A source of an encoder–decoder or a prefix is the prompt where the run was trained so. Marks that are no text are
    never said; the end mark ends a continuation. `compiled`: see `generate`.

    Raises UserError for prompts that the run cannot go on from, and for settings that do not go together.
    """
    run, draft = bare_run("run", run), None if draft is None else bare_run("the draft", draft)
    if not prompts:
        raise UserError("there is no prompt; give at least one text")
    if objective_of(run).fills:
        raise UserError("this run fills blanks and cannot go on from a text: zoo.fill(run, 'the [MASK] learns')")
    special = run.tokenizer.special
    sampling = settings.sampling(banned=(special.start, special.mask))
    refuse_wrong_beams(settings.beams, settings.length_penalty, sampling)
    refuse_wrong_draft(run.model, draft and draft.model, settings.drafted, settings.beams)
    if draft is not None and draft.tokenizer.fingerprint != run.tokenizer.fingerprint:
        raise UserError("the draft was trained with another tokenizer, so it cannot guess for this run")
    prompt = open_with(run, prompts)
    for one in (run, draft):
        if one is not None:
            prompt.refuse_unless_fits(one.model, settings.max_new_tokens)
    wide = max(settings.samples, settings.beams)
    prompt.refuse_beyond_memory(run.model, settings.max_new_tokens, wide, alone=draft is not None)
    if settings.beams > 1:
        return searched(run, prompts, prompt, settings, sampling, compiled)
    rows = [text for text in prompts for _ in range(settings.samples)]
    if draft is not None:
        return guessed(run, draft, rows, prompt, settings, sampling, watch, compiled)
    return streamed(run, rows, prompt, settings, sampling, watch, compiled)
