"""The command train.py: from a composed config to a finished run folder."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from zoo.config import parse, plain
from zoo.data.corpus import load_corpus
from zoo.errors import UserError
from zoo.jobs.identity import find_folder, science_of, slug, with_resolved_paths
from zoo.jobs.job import Job
from zoo.jobs.resume import resumed_node
from zoo.memory import enough_memory
from zoo.plugins import load_plugins
from zoo.schema import convert
from zoo.training.run import RunFolder, read_record, read_status
from zoo.training.runtime import Machinery, resolve


def train(config: DictConfig | Mapping[str, Any], choices: Mapping[str, str], overrides: list[str]) -> Path:
    """Train what the config says and return the run folder. A finished run is found again and not repeated; one that
    stopped half-way goes on where it stopped. Raises UserError for bad input, with nothing half-written."""
    with enough_memory():
        return _train(plain(config), choices, overrides)


def _train(node: dict[str, Any], choices: Mapping[str, str], overrides: list[str]) -> Path:
    load_plugins(node.pop("plugins", None))
    resume = convert(node.pop("resume", None), str | None, "resume")
    if resume is not None:
        node = resumed_node(Path(resume), node, overrides)
    experiment = parse(node)
    machinery = resolve(experiment.runtime)
    corpus = load_corpus(experiment.data, experiment.tokenizer, experiment.cache)
    node["data"] = with_resolved_paths(node["data"], corpus.summary)
    science = science_of(experiment, corpus.fingerprint)
    if resume is None:
        folder = find_folder(Path(experiment.out), slug(choices, overrides), science)
    else:
        folder = Path(resume)
        _refuse_change(folder, science)
    if _finished(folder, machinery):
        return folder
    job = Job(experiment, node, corpus, machinery)
    with RunFolder(folder) as run:
        if not _finished(folder, machinery):  # by another process, while this one made ready
            job.run(run, {"choices": dict(choices), "overrides": overrides, "science": science})
    return folder


def _finished(folder: Path, machinery: Machinery) -> bool:
    """Whether the run has come to its end; says so, and by what it was computed when that is not what is asked now."""
    state = (read_status(folder) or {}).get("state")
    if state not in ("done", "diverged"):
        return False
    different = machinery.differs(read_record(folder)["machinery"])
    how = f" (it was computed with {different} now)" if different else ""
    print(f"{folder}: {state} already{how}, nothing to do; remove the folder to run it again")
    return True


def _refuse_change(folder: Path, science: Mapping[str, Any]) -> None:
    """A run goes on only as what it was."""
    before = dict(read_record(folder)["science"])
    changed = sorted(key for key in before.keys() | science.keys() if before.get(key) != science.get(key))
    if changed:
        raise UserError(
            f"{folder}: {', '.join(changed)} changed since the run began, so it cannot go on; start a new run"
        )
