"""One run of a study, as its folder tells it: bounded in size however long it trained."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zoo.errors import UserError
from zoo.study.metric import read_metric
from zoo.study.question import Job
from zoo.sweep.notes import CONCLUDED
from zoo.sweep.worker import gone
from zoo.training.files import read_json
from zoo.training.run import read_record, read_status

Point = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Run:
    """A job and what became of it."""

    job: int
    variant: str
    tuning: Mapping[str, Any]
    seed: int
    overrides: tuple[str, ...]
    state: str
    """done, diverged, failed, running, interrupted, killed, bad input, unreadable, gone, or not started."""
    message: str = ""
    folder: Path | None = None
    record: Mapping[str, Any] = field(default_factory=dict)
    scores: Mapping[str, Any] = field(default_factory=dict)
    """By held-out split, at the end of training."""
    lengths: tuple[Point, ...] = ()
    latency: Mapping[str, Any] = field(default_factory=dict)
    """What generating costs, where it was measured: what latency.json holds."""
    translation: Mapping[str, Any] = field(default_factory=dict)
    """How well it translates, where that was scored: what translation.json holds."""
    gradients: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Norms by sublayer: initial and final."""
    train: tuple[Point, ...] = ()
    validation: tuple[Point, ...] = ()
    gradient_history: tuple[Point, ...] = ()
    match: Mapping[str, Any] | None = None

    @property
    def science(self) -> Mapping[str, Any]:
        """What makes it this run and no other."""
        found: Mapping[str, Any] = self.record.get("science", {})
        return found

    @property
    def done(self) -> bool:
        """Whether it came to its end, with scores."""
        return self.state == "done"

    def cost(self, *names: str) -> int | float | None:
        """The first of these costs that the record has."""
        costs = self.record.get("costs", {})
        return next((costs[name] for name in names if isinstance(costs.get(name), int | float)), None)

    def at_length(self, context: int) -> Point:
        """The scores in rows of that length; nothing when there are none."""
        return next((one for one in self.lengths if one.get("context") == context), {})

    def value(self, metric: str) -> float | None:
        """A metric like "test loss" or "test loss at 256", when the run is done and has it."""
        asked = read_metric(metric)
        scores = self.scores.get(asked.split, {}) if asked.context is None else self.at_length(asked.context)
        found = scores.get(asked.name) if self.done else None
        return float(found) if isinstance(found, int | float) else None


@dataclass(frozen=True)
class Unread:
    """A run folder beside others whose record cannot be read, so that nobody knows what it is a run of."""

    folder: Path
    message: str
    state: str = "unreadable"


def read_run(job: Job, folder: Path | None, note: Mapping[str, Any], points: int | None) -> Run:
    """The run of a job; `points` bounds how many lines of each kind are kept, None keeps all. A run folder that cannot
    be read makes a run of the state "unreadable", and one that was there and is no more one of the state "gone", with
    the reason as its message."""
    about: dict[str, Any] = {"job": job.job, "variant": job.variant, "tuning": job.tuning, "seed": job.seed}
    about |= {"overrides": job.overrides, "folder": folder, "match": note.get("match")}
    state, message = note.get("state", "not started"), str(note.get("message", ""))
    if state in CONCLUDED and folder is None:
        said = f"the note of job {job.job} names no run folder; the same command writes it again"
        return Run(**about, state="unreadable", message=said)
    if state in CONCLUDED and folder is not None and not folder.is_dir():
        return Run(
            **about, state="gone", message=f"the folder of job {job.job} is gone; the same command makes it again"
        )
    if folder is None or (state not in CONCLUDED and not (folder / "record.json").exists()):
        state, message = _now(state, message, note)
        return Run(**about, state=state, message=message)
    try:
        status = read_status(folder) or {}
        if state in ("running", "not started", "done") and status.get("state"):
            state, message = status["state"], message or str(status.get("reason", ""))
        state, message = _now(state, message, note, status)
        return Run(**about, state=state, message=message, **_content(folder, status, points))
    except (UserError, ValueError, OSError, AttributeError, TypeError, KeyError) as error:
        return Run(**about, state="unreadable", message=str(error))


def _now(state: str, message: str, *told: Mapping[str, Any]) -> tuple[str, str]:
    """State and message as they are: a process that was killed left "running" behind, in the note of its job and in the
    status of its run."""
    known = [
        f"{one.get('host')}:{one['pid']}" for one in told if type(one.get("pid")) is int and 0 < one["pid"] < 2**31
    ]
    if state != "running" or not known or not all(map(gone, known)):
        return state, message
    return "interrupted", "its process was killed; the same command goes on with it"


def _content(folder: Path, status: Mapping[str, Any], points: int | None) -> dict[str, Any]:
    lines = {kind: Thinned(points) for kind in ("train", "validation", "gradients")}
    last: dict[str, Any] = {}
    count = 0
    for line in _lines(folder / "metrics.jsonl"):
        count += 1
        split = line["split"]
        if split != "train":
            last[split] = line
        if split in lines:
            lines[split].add({key: value for key, value in line.items() if not isinstance(value, dict)})
        if "gradients" in line:
            lines["gradients"].add({"step": line["step"], **line["gradients"]})
    if status.get("state") == "done" and count < status.get("lines", 0):
        raise UserError(f"{folder / 'metrics.jsonl'} is damaged: it has {count} of the {status['lines']} lines")
    file = folder / "scores.json"
    told = read_json(file) if file.exists() else {}
    measured, translated = folder / "latency.json", folder / "translation.json"
    held_out = {split: told.get(split) or status.get("scores", {}).get(split) or {} for split in ("validation", "test")}
    return {
        "record": read_record(folder),
        "scores": {split: {**last.get(split, {}), **one} for split, one in held_out.items() if one},
        "lengths": tuple(told.get("lengths") or ()),
        "latency": read_json(measured) if measured.exists() else {},
        "translation": read_json(translated) if translated.exists() else {},
        "gradients": told.get("gradients") or {},
        "train": lines["train"].kept(),
        "validation": lines["validation"].kept(),
        "gradient_history": lines["gradients"].kept(),
    }


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    """The lines of metrics.jsonl one by one; a torn last line is left out. Raises UserError for another damaged one."""
    if not file.exists():
        return
    with file.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            if not line.endswith(b"\n"):
                return
            try:
                found = json.loads(line)
                found["step"], found["split"], found["tokens"]
            except (ValueError, TypeError, KeyError, RecursionError) as error:
                raise UserError(f"{file} is damaged in line {number}") from error
            yield found


class Thinned:
    """Keeps at most 2 · `points` of a series, evenly, and always its last; all of it for None."""

    def __init__(self, points: int | None):
        self.points, self.stride, self.seen = points, 1, 0
        self.series: list[Point] = []
        self.last: Point | None = None

    def add(self, point: Point) -> None:
        """One more."""
        self.last = point
        if self.seen % self.stride == 0:
            self.series.append(point)
            if self.points is not None and len(self.series) >= 2 * self.points:
                self.series, self.stride = self.series[::2], 2 * self.stride
        self.seen += 1

    def kept(self) -> tuple[Point, ...]:
        """What is left."""
        ends = [] if self.last is None or (self.series and self.series[-1] is self.last) else [self.last]
        return (*self.series, *ends)
