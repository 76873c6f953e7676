"""What a run that is over is asked for anew: measured from its last checkpoint, where it can be."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from zoo import sweep
from zoo.errors import UserError
from zoo.experiment import Experiment
from zoo.jobs.final import lacking, write_scores
from zoo.jobs.parts import build_parts
from zoo.jobs.prepared import Prepared
from zoo.jobs.state import restore
from zoo.training.files import read_json
from zoo.training.metrics import read_metrics, refuse_lost
from zoo.training.run import RunFolder, read_status


def score_later(prepared: Prepared, folder: Path) -> None:
    """Add to scores.json of a run that is done what `record` asks for and it lacks, and say what cannot be had. Raises
    UserError when what it noted on its way is lost."""
    experiment = prepared.experiment
    status = read_status(folder) or {}
    if status.get("state") != "done":
        return
    refuse_lost(folder, status)
    for said in _gone_by(folder, experiment):
        print(f"{folder}: {said} cannot be had without training again")
    lengths, gradients = lacking(_known(folder), experiment.record)
    if not lengths and not gradients:
        return
    what = " and ".join(["scores at other lengths"] * bool(lengths) + ["gradients before and after"] * gradients)
    try:
        _measure(prepared, folder)
        print(f"{folder}: {what} added to scores.json")
    except UserError as error:
        print(f"{folder}: {what} not added to scores.json: {error}")


def _measure(prepared: Prepared, folder: Path) -> None:
    """From the last checkpoint. Raises UserError where that is gone, or computes something else here."""
    experiment, machinery, steps = prepared.experiment, prepared.machinery, prepared.experiment.budget.steps
    with RunFolder(folder, wait=sweep.in_study()) as run:
        parts = build_parts(experiment, prepared.corpus, machinery)
        if restore(run, parts, machinery, steps).step < steps:
            raise UserError(f"the checkpoint of step {steps} is gone")
        write_scores(folder, _known(folder), experiment, parts, machinery)


def _known(folder: Path) -> Mapping[str, Any]:
    """The scores that there are."""
    file = folder / "scores.json"
    found: Mapping[str, Any] = read_json(file) if file.exists() else (read_status(folder) or {}).get("scores", {})
    return found


def _gone_by(folder: Path, experiment: Experiment) -> Iterator[str]:
    """What was to be noted at steps that went by without it."""
    budget, record, lines = experiment.budget, experiment.record, read_metrics(folder)
    trained = [one for one in lines if one["split"] == "train"]
    scored = [one for one in lines if one["split"] == "validation"]
    noted = [
        ("record.log_every", record.log_every, trained),
        ("record.gradients_every", record.gradients_every, [one for one in lines if "gradients" in one]),
    ]
    if scored:  # else there was nothing to validate on
        noted.append(("budget.evaluate_every", budget.evaluate_every, scored))
    for key, every, there in noted:
        asked = set(range(every, budget.steps + 1, every)) if every else set()
        missing = asked - {one["step"] for one in there}
        if missing:
            yield f"{key}={every}: what was not noted at {len(missing)} of {len(asked)} steps"
