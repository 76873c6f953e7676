"""One run, from a composed config to a finished run folder: parse, build, fit, record."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import torch
from omegaconf import DictConfig

from zoo.accounting import costs
from zoo.assembly import build_model
from zoo.config import load_plugin, parse, plain
from zoo.data.corpus import Corpus, load_corpus
from zoo.errors import UserError
from zoo.experiment import Experiment
from zoo.objective import objectives
from zoo.topology import topologies
from zoo.training.checkpoint import latest_checkpoint, save_checkpoint
from zoo.training.divergence import Diverged
from zoo.training.evaluate import evaluate
from zoo.training.feed import Feed
from zoo.training.identity import find_folder, read_record, read_run, science_of, slug, with_resolved_paths
from zoo.training.interrupt import Interrupt, how_to_resume
from zoo.training.loop import Step, fit
from zoo.training.optimizer import optimizers
from zoo.training.progress import Display
from zoo.training.record import environment
from zoo.training.run import RunFolder, read_status
from zoo.training.runtime import DEFAULT_THREADS, resolve
from zoo.training.schedule import schedules

SplitName = Literal["train", "validation", "test"]


def train(config: DictConfig, choices: Mapping[str, str], overrides: list[str]) -> Path:
    """Train what the config says and return the run folder. A finished run is found again and not repeated; one that
    stopped half-way goes on where it stopped. Raises UserError for bad input, with nothing half-written."""
    node = plain(config)
    for module in node.pop("plugins", None) or []:
        load_plugin(module)
    resume = node.pop("resume", None)
    about: dict[str, Any] = {"choices": dict(choices), "overrides": overrides}
    if resume is not None:
        node, about = read_run(Path(resume))
    experiment = parse(node)
    corpus = load_corpus(experiment.data, experiment.tokenizer, experiment.cache)
    node["data"] = with_resolved_paths(node["data"], corpus.summary)
    science = science_of(node, corpus.fingerprint)
    if about.setdefault("science", science) != science:
        raise UserError(f"{resume}: the data has changed since the run began, so it cannot go on; start a new run")
    folder = find_folder(Path(experiment.out), slug(about), science) if resume is None else Path(resume)
    state = (read_status(folder) or {}).get("state")
    if state in ("done", "diverged"):
        print(f"{folder}: {state} already, nothing to do; remove the folder to run it again")
        return folder
    job = Job(experiment, node, corpus, RunFolder(folder))
    with job.folder:
        job.run(about)
    return folder


class Job:
    """The parts of one run, built from its experiment."""

    def __init__(self, experiment: Experiment, node: dict[str, Any], corpus: Corpus, run: RunFolder):
        self.experiment, self.node, self.corpus, self.folder = experiment, node, corpus, run
        torch.set_num_threads(experiment.runtime.threads or DEFAULT_THREADS)
        self.machinery = resolve(experiment.runtime)
        self.device = torch.device(self.machinery.device)
        self.objective = objectives.build(experiment.objective)
        self.feed = Feed(
            corpus,
            self.objective,
            topologies.get(experiment.model.topology.name).traits,
            batch_size=experiment.budget.batch_size,
            context=experiment.budget.context,
            splits=list(corpus.splits),
        )
        self.schedule = schedules.build(experiment.schedule)
        self.schedule.factor(0, experiment.budget.steps)  # a warm-up longer than the run is refused before the start
        self.model = build_model(experiment.model, corpus.tokenizer.vocabulary, experiment.seed)
        self.costs = costs(self.model, experiment.budget.context)
        self.model.attention = self.machinery.attention
        self.model.to(self.device)
        if self.machinery.compile:
            self.model.compile()
        self.optimizer = optimizers.build(experiment.optimizer, self.model)
        self.byte_lengths = torch.from_numpy(corpus.tokenizer.byte_lengths)
        self.display = Display(steps=experiment.budget.steps, every=experiment.runtime.log_every)
        self.done = self.tokens = 0
        self.seconds = 0.0
        self.scores: dict[str, dict[str, Any]] = {}

    def run(self, about: dict[str, Any]) -> None:
        """Go on from the newest checkpoint, or begin; end with scores on every held-out split."""
        path, steps = self.folder.path, self.experiment.budget.steps
        self._restore()
        self.folder.start(self.node, {**about, **self._record()}, step=self.done)
        since = f", from step {self.done}" if self.done else ""
        self.display.say(f"{path}: {self.costs.parameters:,} parameters{since}")
        try:
            self._fit()
            if self.done == steps:
                self._evaluate("test")
        except Diverged as error:
            self.folder.finish("diverged", step=error.step, layer=error.layer, reason=str(error))
            raise
        except BaseException as error:
            self.folder.finish("failed", step=self.done, reason=f"{type(error).__name__}: {error}")
            raise
        if self.done < steps:
            self.folder.finish("interrupted", step=self.done)
            raise KeyboardInterrupt(how_to_resume(path))
        self.folder.finish("done", step=self.done, seconds=round(self.seconds, 3), scores=self.scores)

    def _fit(self) -> None:
        """Make the steps that are left, or those until an interruption."""
        runtime, budget = self.experiment.runtime, self.experiment.budget
        steps = fit(
            self.model,
            self.optimizer,
            self.schedule,
            lambda step: self.feed.tasks(step, budget.accumulate, self.experiment.seed),
            steps=budget.steps,
            seed=self.experiment.seed,
            device=self.device,
            start=self.done,
            tokens=self.tokens,
            label_smoothing=self.objective.label_smoothing,
            autocast=self.machinery.autocast,
        )
        with Interrupt() as interrupt, self.display:
            for step in steps:
                self.done, self.tokens, last = step.step, step.tokens, step.step == budget.steps
                self.seconds += step.seconds
                self.display.update(step)
                if self.done % runtime.log_every == 0 or last:
                    self._log(step)
                if self.done % budget.evaluate_every == 0 or last:
                    self._evaluate("validation", budget.evaluate_batches)
                if self.done % runtime.checkpoint_every == 0 or last or interrupt.asked:
                    self._save()
                if interrupt.asked:
                    return

    def _log(self, step: Step) -> None:
        """The line of a training step; its loss is that of its own batch."""
        speed = step.scored / step.seconds if step.seconds else None
        self._line(
            "train", loss=step.loss, **step.auxiliary, lr=step.lr, grad_norm=step.grad_norm, tokens_per_second=speed
        )

    def _evaluate(self, split: SplitName, batches: int | None = None) -> None:
        """Score a held-out split and write its line, if the corpus has that split."""
        if split not in self.feed.loaders:
            return
        tasks = self.feed.evaluation(split, batches)
        with self.optimizer.averaged():
            scores = evaluate(
                self.model, tasks, self.byte_lengths, device=self.device, autocast=self.machinery.autocast
            )
        values = {"loss": scores.loss, "bits_per_byte": scores.bits_per_byte, "accuracy": scores.accuracy}
        self.scores[split] = values
        self._line(split, **values, scored=scores.tokens)
        bits = scores.no_bits_per_byte if scores.bits_per_byte is None else f"{scores.bits_per_byte:.4f} bits per byte"
        self.display.say(f"step {self.done}  {split}: {scores.loss:.4f} nats per token, {bits}")

    def _line(self, split: SplitName, **values: Any) -> None:
        self.folder.log(step=self.done, split=split, tokens=self.tokens, seconds=round(self.seconds, 3), **values)

    def _save(self) -> None:
        """A checkpoint that the run can go on from, and that the model can be rebuilt from."""
        average = self.optimizer.average
        save_checkpoint(
            self.folder.checkpoints,
            self.done,
            self.model,
            architecture=self._architecture(),
            tokenizer=self.corpus.tokenizer.to_json(),
            train_state={"optimizer": self.optimizer.state_dict(), "tokens": self.tokens, "seconds": self.seconds},
            average=average.weights if average else None,
            keep=self.experiment.runtime.keep_checkpoints,
        )

    def _architecture(self) -> dict[str, Any]:
        """What rebuilds and scores the model without its run folder."""
        node = self.node
        about = {key: node[key] for key in ("model", "objective", "data")}
        return {**about, "vocabulary": self.corpus.tokenizer.vocabulary, "context": node["budget"]["context"]}

    def _restore(self) -> None:
        """Go back to the newest whole checkpoint, if there is one. Raises UserError when it was computed otherwise."""
        checkpoint = latest_checkpoint(self.folder.checkpoints)
        if checkpoint is None:
            return
        before = read_record(self.folder.path).get("machinery")
        if before != self.machinery.as_dict():
            raise UserError(
                f"{self.folder.path} was computed with {before}, this machine would go on with"
                f" {self.machinery.as_dict()}; set runtime.* alike, or remove the folder to begin anew"
            )
        checkpoint.load_model(self.model)
        state = checkpoint.train_state()
        self.optimizer.load_state_dict(state["optimizer"])
        if self.optimizer.average:
            self.optimizer.average.load(checkpoint.average())
        self.done, self.tokens, self.seconds = checkpoint.step, state["tokens"], state["seconds"]

    def _record(self) -> dict[str, Any]:
        """What is worth knowing about the run later."""
        return {
            "costs": self.costs.as_dict(),
            "machinery": self.machinery.as_dict(),
            "threads": torch.get_num_threads(),
            "data": self.corpus.summary,
            "micro_batches_per_epoch": self.feed.epoch,
            "rows": {split: loader.summary() for split, loader in self.feed.loaders.items()},
            "parameter_groups": self.optimizer.groups(),
            **environment(),
        }
