"""The command train.py: from a composed config to a finished run folder."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from zoo import sweep
from zoo.errors import RunFailed, UserError
from zoo.jobs.fresh import start_fresh
from zoo.jobs.identity import find_folder, slug
from zoo.jobs.job import Job
from zoo.jobs.later import score_later
from zoo.jobs.prepared import Prepared, prepare
from zoo.matching.apply import as_words
from zoo.memory import enough_memory
from zoo.training.interrupt import terminable
from zoo.training.last import lost_checkpoints
from zoo.training.record import code_differs
from zoo.training.run import RunFolder, read_record, read_status
from zoo.training.runtime import Machinery


class WasDiverged(RunFailed):
    """A job of a study found a run that had diverged."""

    state = "diverged"


def train(config: DictConfig | Mapping[str, Any], choices: Mapping[str, str | None], overrides: list[str]) -> Path:
    """Train what the config says and return the run folder. A finished run is found again and not repeated; one that
    stopped half-way goes on where it stopped. Raises UserError for bad input, with nothing half-written."""
    for key in ("dry_run", "fail_fast"):
        if config.get(key) and sweep.folder() is None:
            raise UserError(f"{key} is of a study: give study=…, or -m, which makes a study of one run too")
    start_fresh()
    with enough_memory("make budget.batch_size, budget.context or the model smaller"):
        return _train(prepare(config, overrides), choices, overrides)


def _train(prepared: Prepared, choices: Mapping[str, str | None], overrides: list[str]) -> Path:
    if prepared.resume is None:
        words = slug(choices, overrides)
        folder = find_folder(Path(prepared.experiment.out), words, prepared.science, prepared.written)
    else:
        folder = prepared.resume
        _refuse_change(folder, prepared)
    if prepared.match is not None:
        print(as_words(prepared.match))
    finished = _finished(folder, prepared.machinery)
    sweep.tell(folder, prepared.match, finished)
    if finished:
        _refuse_diverged(folder)
        score_later(prepared, folder)
        return folder
    job = Job(prepared.experiment, prepared.node, prepared.corpus, prepared.machinery)
    science = _science(folder, prepared)
    about = {"choices": dict(choices), "overrides": overrides, "science": science, "match": prepared.match}
    with terminable(), RunFolder(folder, wait=sweep.in_study()) as run:
        if _finished(folder, prepared.machinery):  # by another process, while this one made ready
            _refuse_diverged(folder)
        else:
            job.run(run, about)
    return folder


def _science(folder: Path, prepared: Prepared) -> Mapping[str, Any]:
    """What the record says that the run is: what its folder is called by, also where that is the science as written."""
    begun = (folder / "record.json").exists() and read_record(folder)["science"] == prepared.written
    return prepared.written if begun else prepared.science


def _finished(folder: Path, machinery: Machinery) -> bool:
    """Whether the run has come to its end; says so, and by what it was computed when that is not what is asked now."""
    state = (read_status(folder) or {}).get("state")
    if state not in ("done", "diverged"):
        return False
    record = read_record(folder)
    different = machinery.differs(record["machinery"])
    how = f" (it was computed with {different} now)" if different else ""
    code = code_differs(record)
    code = f"; its code was {code}" if code else ""
    gone = "; its checkpoints are gone, so that nothing more can be computed of it" * lost_checkpoints(folder)
    print(f"{folder}: {state} already{how}, nothing to do; remove the folder to run it again{code}{gone}")
    return True


def _refuse_diverged(folder: Path) -> None:
    """In a study, whose note names the folder by now, raises WasDiverged for a finished run that ended badly."""
    if sweep.in_study() and (read_status(folder) or {}).get("state") == "diverged":
        raise WasDiverged(f"{folder} diverged before; remove the folder to run it again")


def _refuse_change(folder: Path, prepared: Prepared) -> None:
    """A run goes on only as what it was."""
    before = dict(read_record(folder)["science"])
    changed = _differing(before, prepared.science)
    if changed and before != prepared.written:
        raise UserError(
            f"{folder}: {', '.join(changed)} changed since the run began, so it cannot go on; start a new run"
        )


def _differing(a: Any, b: Any, path: str = "") -> list[str]:
    """The paths of the values that only one of them has, or that differ."""
    if not isinstance(a, Mapping) or not isinstance(b, Mapping):
        return [] if a == b else [path]
    inside = [_differing(a.get(key), b.get(key), f"{path}.{key}".lstrip(".")) for key in sorted(a.keys() | b.keys())]
    return [one for some in inside for one in some]
