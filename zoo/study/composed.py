"""What is wrong with a study and only shows when its jobs are composed."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from zoo.errors import UserError
from zoo.jobs.identity import OBSERVATION, SCIENCE
from zoo.study.alike import alike
from zoo.study.metric import read_metric
from zoo.study.plan import Job
from zoo.study.spec import Study

Composed = Iterable[tuple[Job, Mapping[str, Any]]]
"""Jobs with their plain configs."""


def refuse_unsound(study: Study, composed: Composed) -> None:
    """Raise UserError for a metric that a job will not have, and for jobs that are the same run. The jobs are those of
    one seed."""
    seen: dict[str, tuple[Job, Mapping[str, Any]]] = {}
    for job, node in composed:
        _refuse_length(study.metric, job, node)
        first, _ = seen.setdefault(repr(_science(study, node)), (job, node))
        _refuse_same(first, job)
    _refuse_alike(study, [*seen.values()])


def _refuse_alike(study: Study, composed: Sequence[tuple[Job, Mapping[str, Any]]]) -> None:
    """The same for jobs whose configs differ, but not in what their runs are known by."""
    doubtful = alike([_science(study, node) for _, node in composed])
    if not doubtful:
        return
    from zoo.study.known import known_by  # torch is imported here

    known: dict[tuple[str, str], Job] = {}
    for place in doubtful:
        job, node = composed[place]
        science = known_by(node)
        if science is not None:
            matched = repr(node.get("match")) if study.match == "none" else ""
            _refuse_same(known.setdefault((science, matched), job), job)


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
