"""scores.json: what is measured of a run when it has come to its end."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from zoo.assembly import build_model
from zoo.data.corpus import Corpus
from zoo.errors import UserError
from zoo.experiment import Experiment
from zoo.jobs.parts import Parts, place, refuse_limit
from zoo.training.evaluate import evaluate
from zoo.training.feed import Feed
from zoo.training.files import json_text, write_whole
from zoo.training.gradients import gradients_of
from zoo.training.runtime import Machinery


def write_scores(
    folder: Path,
    scores: Mapping[Any, Any],
    experiment: Experiment,
    parts: Parts,
    corpus: Corpus,
    machinery: Machinery,
) -> None:
    """Write the scores of the held-out splits and, as far as `record` asks for them, those at other lengths and the
    gradient of each sublayer before and after training."""
    found: dict[str, Any] = {str(split): values for split, values in scores.items()}
    if experiment.record.lengths is not None:
        with parts.optimizer.averaged():
            found["lengths"] = [at_length(n, experiment, parts, corpus, machinery) for n in experiment.record.lengths]
    if experiment.record.gradients_every is not None and "validation" in corpus.splits:
        found["gradients"] = before_and_after(experiment, parts, corpus, machinery)
    write_whole(folder / "scores.json", (json_text(found, indent=1) + "\n").encode())


def at_length(
    context: int, experiment: Experiment, parts: Parts, corpus: Corpus, machinery: Machinery
) -> dict[str, Any]:
    """The scores of the test split (of validation, without one) in rows of that many positions. What the model cannot
    read has no loss, and says why."""
    split = "test" if "test" in corpus.splits else "validation"
    budget = experiment.budget
    rows = max(1, budget.batch_size * budget.context // context)
    try:
        refuse_limit(parts.model, context, "record.lengths")
        traits = parts.model.topology.traits
        feed = Feed(corpus, parts.objective, traits, batch_size=rows, context=context, splits=[split])
        scores = evaluate(
            parts.model,
            feed.evaluation(split),
            torch.from_numpy(corpus.tokenizer.byte_lengths),
            device=parts.device,
            autocast=machinery.autocast,
            bytes_unknown=corpus.splits[split].bytes_unknown,
            skills=corpus.skills,
        )
    except UserError as error:
        return {"context": context, "loss": None, "why": str(error)}
    values = {"loss": scores.loss, "bits_per_byte": scores.bits_per_byte, "accuracy": scores.accuracy}
    found = {"context": context, **values}
    return found if scores.floor is None else {**found, "floor": scores.floor, "skills": scores.as_dict()["skills"]}


def before_and_after(
    experiment: Experiment, parts: Parts, corpus: Corpus, machinery: Machinery
) -> dict[str, dict[str, float]]:
    """The gradient norms on the first batch of the validation split, of the model as it began and as it is now. The
    first is built anew from its seed: a run that was resumed says the same."""
    (task,) = list(parts.feed.evaluation("validation", 1))[:1]
    began = build_model(experiment.model, corpus.tokenizer.vocabulary, experiment.seed)
    place(began, machinery)
    return {
        "initial": gradients_of(began, task, parts.device),
        "final": gradients_of(parts.model, task, parts.device),
    }
