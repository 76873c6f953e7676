"""One run: fit, log, score, save; and how it ended."""

import math
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Literal

from rich.console import RenderableType

from zoo.command.overrides import key_of
from zoo.data.corpus import Corpus
from zoo.data.told import told
from zoo.errors import UserError
from zoo.experiment import Experiment
from zoo.jobs.final import write_scores
from zoo.jobs.parts import build_parts
from zoo.jobs.skill_table import skill_tables
from zoo.jobs.state import State, restore, save
from zoo.jobs.updates import updates
from zoo.literal import as_word
from zoo.terminal import show
from zoo.training.busy import advice
from zoo.training.divergence import Diverged, culprit
from zoo.training.gradients import gradient_norms, unclipped
from zoo.training.interrupt import Interrupt, how_to_resume
from zoo.training.loop import Step
from zoo.training.progress import Display
from zoo.training.record import environment
from zoo.training.run import RunFolder
from zoo.training.runtime import Machinery
from zoo.training.scoring import score

HeldOut = Literal["validation", "test"]
HELD_OUT: tuple[HeldOut, ...] = ("validation", "test")


def _plugins(overrides: Sequence[str]) -> str:
    """The words that name modules of the user's own, as the next command needs them: a run folder imports none."""
    return "".join(f" {shlex.quote(one)}" for one in overrides if key_of(one) == "plugins")


class Job:
    """The parts of one run and its folder, which is written to only by `run`. `node` is the config as it is written."""

    def __init__(self, experiment: Experiment, node: Mapping[str, Any], corpus: Corpus, machinery: Machinery):
        self.experiment, self.node, self.corpus, self.machinery = experiment, node, corpus, machinery
        self.parts = build_parts(experiment, corpus, machinery)
        self.state = State()
        self.tables: list[RenderableType] = []

    def run(self, folder: RunFolder, about: Mapping[str, Any]) -> None:
        """Go on from the newest checkpoint, or begin; end with scores on every held-out split. `about` is how the run
        was chosen. Raises Diverged, and KeyboardInterrupt after an interruption."""
        steps = self.experiment.budget.steps
        self.folder, self.state = folder, restore(folder, self.parts, self.machinery, steps)
        start = self.state.step
        self.saved = start
        self.display = Display(steps=steps, start=start, every=self.experiment.record.log_every)
        here = {"machinery": self.machinery.as_dict(), **environment()}
        resumed, plugins = {"overrides": about["overrides"], **here}, _plugins(about["overrides"])
        about = {**about, **self._record(), **here}
        folder.start(self.node, about, step=start, lines=self.state.lines, resumed=resumed)
        since = f", from step {start}" if start else ""
        self.display.say(f"{folder.path}: {self.parts.costs.parameters:,} parameters{since}; {self.machinery.words()}")
        self.display.say(told(self.corpus.summary))
        if slow := self.machinery.advice():
            self.display.say(slow)
        busy = advice(self.machinery.device, self.machinery.threads)
        if busy and not start:  # a begun run keeps its threads
            self.display.say(busy)
        try:
            self._fit()
            if self.state.step < steps:
                raise KeyboardInterrupt
            folder.drop_scores(steps)
            splits = [split for split in HELD_OUT if split in self.corpus.splits]
            scores = {str(split): self._score(split, None) for split in splits}
            write_scores(folder.path, scores, self.experiment, self.parts, self.machinery)
            spent = round(self.state.seconds, 3)
            folder.finish("done", step=steps, seconds=spent, scores=scores, lines=folder.written)
        except BaseException as error:
            with suppress(UserError):  # a full disk takes no status either, and must not hide what happened
                self._end(error)
            if isinstance(error, KeyboardInterrupt):
                raise KeyboardInterrupt(how_to_resume(folder.path, self.saved, plugins)) from None
            raise
        show(*self.tables)
        self.display.say(f"done: {folder.path}    python evaluate.py {as_word('run', str(folder.path))}{plugins}")

    def _end(self, error: BaseException) -> None:
        """Say in the folder why the run did not come to its end."""
        match error:
            case Diverged():
                self.folder.finish("diverged", step=error.step, layer=error.layer, reason=str(error))
            case KeyboardInterrupt():
                self.folder.finish("interrupted", step=self.saved)
            case _:
                self.folder.finish("failed", step=self.state.step, reason=f"{type(error).__name__}: {error}")

    def _fit(self) -> None:
        """Make the steps that are left, or those until an interruption."""
        record, budget, parts, state = self.experiment.record, self.experiment.budget, self.parts, self.state
        steps = updates(self.experiment, parts, self.machinery, start=state.step, tokens=state.tokens)
        with Interrupt() as interrupt, self.display:
            for step in steps:
                last = step.step == budget.steps
                state.step, state.tokens = step.step, step.tokens
                state.flops, state.seconds = state.flops + step.flops, state.seconds + step.seconds
                self.display.update(step)
                if last or any(
                    every and step.step % every == 0 for every in (record.log_every, record.gradients_every)
                ):
                    self._log(step)
                if step.step % budget.evaluate_every == 0 and not last and "validation" in self.corpus.splits:
                    self._score("validation", budget.evaluate_batches)
                if step.step % record.checkpoint_every == 0 or last or interrupt.asked:
                    self._save()
                if interrupt.asked:
                    return

    def _log(self, step: Step) -> None:
        """The line of a training step; its loss is that of its own batch."""
        self._line(
            "train",
            loss=step.loss,
            **step.auxiliary,
            lr=step.lr,
            grad_norm=step.grad_norm,
            scored=step.scored,
            tokens_per_second=step.positions / step.seconds if step.seconds else None,
            **self._gradients(step),
        )

    def _gradients(self, step: Step) -> dict[str, Any]:
        """The gradient norm of each sublayer before clipping, where the record asks for it."""
        every = self.experiment.record.gradients_every
        if every is None or step.step % every:
            return {}
        factor = unclipped(step.grad_norm, self.parts.optimizer.clip)
        return {"gradients": gradient_norms(self.parts.model, factor)}

    def _score(self, split: HeldOut, batches: int | None) -> dict[str, Any]:
        """Score a held-out split, the whole of it or some batches, and write its line. Raises Diverged when the loss is
        not finite."""
        parts = self.parts
        scored = partial(score, parts.model, parts.feed, split, self.machinery, batches=batches)
        with parts.optimizer.averaged():
            scores = scored()
            if not math.isfinite(scores.loss):
                where = culprit(parts.model, scored)
                raise Diverged(self.state.step, where, f"the {split} loss")
        values, above = scores.values(), ""
        if scores.floor is not None:
            self.tables = skill_tables(split, scores)
            above = f", {scores.loss - scores.floor:.4f} above the floor"
        self._line(split, **values, scored=scores.tokens)
        bits = scores.no_bits_per_byte if scores.bits_per_byte is None else f"{scores.bits_per_byte:.4f} bits per byte"
        self.display.say(f"step {self.state.step}  {split}: {scores.loss:.4f} nats per token{above}, {bits}")
        return values

    def _line(self, split: Literal["train"] | HeldOut, **values: Any) -> None:
        state = self.state
        spent = {"tokens": state.tokens, "flops": state.flops, "seconds": round(state.seconds, 3)}
        self.folder.log(step=state.step, split=split, **spent, **values)

    def _save(self) -> None:
        """A checkpoint; with what rebuilds and scores the model without its run folder."""
        node = self.node
        about = {key: node[key] for key in ("model", "objective", "data")}
        about |= {"vocabulary": self.corpus.tokenizer.vocabulary, "context": node["budget"]["context"]}
        keep = self.experiment.record.keep_checkpoints
        save(self.folder, self.parts, self.state, architecture=about, keep=keep)
        self.saved = self.state.step

    def _record(self) -> dict[str, Any]:
        """What is worth knowing about the run later."""
        return {
            "costs": self.parts.costs.as_dict(),
            "data": self.corpus.summary,
            "micro_batches_per_epoch": self.parts.feed.epoch,
            "rows": {split: loader.summary() for split, loader in self.parts.feed.loaders.items()},
            "parameter_groups": self.parts.optimizer.groups(),
        }
