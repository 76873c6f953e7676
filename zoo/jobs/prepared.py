"""A composed config read as far as its run is known: what it is, on what corpus, how computed, where it belongs."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from omegaconf import DictConfig

from zoo import sweep
from zoo.accounting import lengths
from zoo.assembly import assemble
from zoo.config import ASIDE, parse, plain
from zoo.data.corpus import Corpus, load_corpus
from zoo.data.files import from_launch
from zoo.dropout import Dropout
from zoo.errors import UserError
from zoo.experiment import Experiment
from zoo.jobs.early import refuse_early, refuse_unbuildable
from zoo.jobs.identity import with_resolved_paths
from zoo.jobs.idle import refuse_idle
from zoo.jobs.matched import matched
from zoo.jobs.resume import resumed_node
from zoo.jobs.science import science_as_written, science_of
from zoo.matching.apply import Report
from zoo.objective import objectives
from zoo.part import Part
from zoo.plugins import load_plugins
from zoo.schema import convert
from zoo.training.runtime import Machinery, Work, resolve


@dataclass(frozen=True)
class Prepared:
    """One run that has not begun."""

    experiment: Experiment
    node: Mapping[str, Any]
    """The config as its folder keeps it: matched, and with paths as they were found."""
    corpus: Corpus
    machinery: Machinery
    science: Mapping[str, Any]
    written: Mapping[str, Any]
    """The science as it is written; see `zoo.jobs.science`."""
    match: Report | None
    resume: Path | None


def work_of(experiment: Experiment, vocabulary: int) -> Work:
    """What the training costs: three forward passes for each row of `budget.context` positions."""
    budget = experiment.budget
    with torch.device("meta"):
        model = assemble(experiment.model, vocabulary)
    rows = budget.steps * budget.accumulate * budget.batch_size
    drops = any(part.rate for part in model.modules() if isinstance(part, Dropout))  # its luck is one when compiled
    compiles = not drops and all(part.compiles for part in model.modules() if isinstance(part, Part))
    flops = 3.0 * rows * model.flops(*lengths(model, budget.context))
    logits = budget.batch_size * budget.context * vocabulary
    return Work(budget.context, flops, compiles, logits, objectives.build(experiment.objective).scored)


def _parsed(node: Mapping[str, Any]) -> Experiment:
    """The experiment, whose folders are those of the launch folder wherever Hydra moved the job to."""
    experiment = parse(node)
    return replace(experiment, out=from_launch(experiment.out), cache=from_launch(experiment.cache))


def prepare(config: DictConfig | Mapping[str, Any], overrides: list[str]) -> Prepared:
    """Read the config; the tokens of the corpus are made ready, nothing else is written. Raises UserError for bad
    input."""
    composed = plain(config)
    node = {key: value for key, value in composed.items() if key not in ASIDE}
    load_plugins(node.pop("plugins", None))
    wanted = composed.get("match")
    resume = convert(composed.get("resume"), str | None, "resume")
    if resume == "":
        raise UserError("resume= is empty; give a run folder, as in resume=runs/<run>")
    if resume is not None:
        resume = from_launch(resume)
        node, wanted = resumed_node(Path(resume), node, overrides), None
    experiment = _parsed(node)
    refuse_idle(experiment, overrides)
    if wanted is not None and not isinstance(wanted, Mapping):
        raise UserError(f"match must be chosen as in match=params, got {wanted!r}")
    matches = wanted is not None and wanted.get("target") != "none"
    refuse_early(experiment, matched=matches)
    refuse = partial(refuse_unbuildable, experiment, matched=matches)
    corpus = load_corpus(experiment.data, experiment.tokenizer, experiment.cache, before_building=refuse)
    corpus.split("train")  # refuses a corpus without one
    node, report = matched(wanted, node, overrides, corpus.tokenizer.vocabulary)
    if report is not None:
        experiment = _parsed(node)
        refuse_idle(experiment, overrides)  # what was solved for may stand in the place of another key
    node["data"] = with_resolved_paths(node["data"], corpus.summary)
    work = work_of(experiment, corpus.tokenizer.vocabulary)
    machinery = resolve(experiment.runtime, experiment.cache, work, sweep.folder())
    science, written = (of(experiment, corpus.fingerprint) for of in (science_of, science_as_written))
    folder = None if resume is None else Path(resume)
    return Prepared(experiment, node, corpus, machinery, science, written, report, folder)
