"""What is wrong with a study and only shows when its jobs are composed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from zoo.errors import UserError
from zoo.jobs.identity import OBSERVATION, SCIENCE
from zoo.plugins import load_plugins
from zoo.study.alike import alike
from zoo.study.metric import read_metric
from zoo.study.plan import Job
from zoo.study.spec import Study

Nodes = Sequence[Mapping[str, Any]]
Ask = Callable[[Callable[[Nodes], list[str | None]], Nodes], list[str | None]]

Composed = Iterable[tuple[Job, Mapping[str, Any]]]
"""Jobs with their plain configs."""


def call(function: Callable[[Nodes], list[str | None]], nodes: Nodes) -> list[str | None]:
    """In this process."""
    return function(nodes)


def refuse_unsound(study: Study, composed: Composed, ask: Ask = call) -> None:
    """Raise UserError for a metric that a job will not have, for jobs that are the same run, and for plugins that
    cannot be imported. The jobs are those of one seed; `ask` calls a function that imports torch."""
    seen: dict[str, tuple[Job, Mapping[str, Any]]] = {}
    plugged: dict[str, Mapping[str, Any]] = {}
    for job, node in composed:
        if node.get("plugins"):
            plugged.setdefault(repr(node["plugins"]), node)
        _refuse_length(study.metric, job, node)
        first, _ = seen.setdefault(repr(_science(study, node)), (job, node))
        _refuse_same(first, job)
    if plugged:
        ask(import_plugins, [*plugged.values()])
    _refuse_alike(study, [*seen.values()], ask)


def import_plugins(nodes: Nodes) -> list[str | None]:
    """Import those of each; nothing is said of them. Raises UserError for one that cannot be: every job that names it
    would come to no more than that, in the place of what is known of its run."""
    for node in nodes:
        load_plugins(node["plugins"])
    return []


def _refuse_alike(study: Study, composed: Sequence[tuple[Job, Mapping[str, Any]]], ask: Ask) -> None:
    """The same for jobs whose configs differ, but not in what their runs are known by."""
    doubtful = alike([_science(study, node) for _, node in composed])
    if not doubtful:
        return
    known: dict[tuple[str, str], Job] = {}
    sciences = ask(sciences_of, [composed[place][1] for place in doubtful])
    for place, science in zip(doubtful, sciences, strict=True):
        job, node = composed[place]
        if science is not None:
            matched = repr(node.get("match")) if study.match == "none" else ""
            _refuse_same(known.setdefault((science, matched), job), job)


def sciences_of(nodes: Nodes) -> list[str | None]:
    """What the run of each is known by."""
    from zoo.study.known import known_by  # torch is imported here

    return [known_by(node) for node in nodes]


def _refuse_same(first: Job, job: Job) -> None:
    if first is not job:
        raise UserError(
            f"{_named(first)} and {_named(job)} are the same run: they differ in nothing that a run is known by;"
            " leave one out"
        )


def _named(job: Job) -> str:
    return " ".join([f"'{job.variant}'", *(f"{key}={value}" for key, value in job.tuning.items())])


def _refuse_length(metric: str, job: Job, node: Mapping[str, Any]) -> None:
    asked, lengths = read_metric(metric).context, node["record"]["lengths"]
    if asked is not None and asked not in (lengths or ()):
        told = "null" if lengths is None else lengths
        raise UserError(
            f"study.metric='{metric}', but '{job.variant}' is scored at record.lengths={told}; add {asked} there"
        )


def _science(study: Study, node: Mapping[str, Any]) -> dict[str, Any]:
    """What makes the job another run, as far as its config says. What the study itself matches is left out: two models
    that are the same before are so afterwards."""
    keys = {*SCIENCE, "data", "plugins", "resume"} | ({"match"} if study.match == "none" else set())
    budget = {key: value for key, value in node["budget"].items() if key not in OBSERVATION}
    return {key: value for key, value in node.items() if key in keys} | {"budget": budget}
