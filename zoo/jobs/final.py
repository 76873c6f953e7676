"""scores.json: what is measured of a run when it has come to its end, or later."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zoo.assembly import build_model
from zoo.errors import UserError
from zoo.experiment import Experiment, Record
from zoo.jobs.parts import Parts, place, refuse_limit
from zoo.memory import enough_memory
from zoo.training.feed import Feed
from zoo.training.files import json_text, write_whole
from zoo.training.gradients import gradients_of
from zoo.training.runtime import Machinery
from zoo.training.scoring import score
from zoo.training.uncompiled import eagerly


def lacking(known: Mapping[str, Any], record: Record) -> tuple[list[int], bool]:
    """What `record` asks for and the known scores lack: other lengths, and whether the gradients before and after."""
    there = [one["context"] for one in known.get("lengths", [])]
    lengths = [context for context in record.lengths or () if context not in there]
    return lengths, record.gradients_every is not None and "gradients" not in known and "validation" in known


def write_scores(
    folder: Path, known: Mapping[str, Any], experiment: Experiment, parts: Parts, machinery: Machinery
) -> None:
    """Write the known scores and, of the same weights, what `record` asks for besides: scores at other lengths, the
    gradient of each sublayer before and after training."""
    found = dict(known)
    lengths, gradients = lacking(known, experiment.record)
    with eagerly(), parts.optimizer.averaged():
        if lengths:
            added = [at_length(context, experiment, parts, machinery) for context in lengths]
            found["lengths"] = sorted([*known.get("lengths", []), *added], key=lambda one: int(one["context"]))
        if gradients:
            found["gradients"] = before_and_after(experiment, parts, machinery)
    write_whole(folder / "scores.json", (json_text(found, indent=1) + "\n").encode())


def at_length(context: int, experiment: Experiment, parts: Parts, machinery: Machinery) -> dict[str, Any]:
    """The scores of the test split (of validation, without one) in rows of that many positions. What the model cannot
    read, the split cannot fill or the memory does not hold has no loss, and says why."""
    corpus, budget = parts.feed.corpus, experiment.budget
    split = "test" if "test" in corpus.splits else "validation"
    rows = max(1, budget.batch_size * budget.context // context)
    try:
        refuse_limit(parts.model, context, "record.lengths")
        traits = parts.model.topology.traits
        with enough_memory("ask for a shorter one in record.lengths"):
            feed = Feed(corpus, parts.objective, traits, batch_size=rows, context=context, splits=[split])
            feed.refuse_unfilled(context, "record.lengths")
            return {"context": context, **score(parts.model, feed, split, machinery).values()}
    except UserError as error:
        return {"context": context, "loss": None, "why": str(error)}


def before_and_after(experiment: Experiment, parts: Parts, machinery: Machinery) -> dict[str, dict[str, float]]:
    """The gradient norms on the first batch of the validation split, of the model as it began and as it is now. The
    first is built anew from its seed: a run that was resumed says the same."""
    (task,) = list(parts.feed.evaluation("validation", 1))[:1]
    began = build_model(experiment.model, parts.feed.corpus.tokenizer.vocabulary, experiment.seed)
    place(began, machinery)
    return {
        "initial": gradients_of(began, task, parts.device),
        "final": gradients_of(parts.model, task, parts.device),
    }
