"""The runs of a study, in the order in which they start, and the study as a file says it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from zoo.command.overrides import merge, write_option, write_value
from zoo.study.question import FORMAT
from zoo.study.spec import Study
from zoo.study.variants import Variant


@dataclass(frozen=True)
class Job:
    """One run: a variant, tuned so, with that seed."""

    job: int
    variant: str
    tuning: Mapping[str, Any]
    seed: int
    overrides: tuple[str, ...]
    """All that `python train.py` needs to make the same run alone."""


@dataclass
class Plan:
    """The jobs of a study that are known: those of the second phase are once the first has ended."""

    study: Study
    shared: Sequence[str]
    """Overrides of every job beside the study's fixed ones: those of the command line, and its share of the machine."""

    def first(self) -> list[Job]:
        """Every variant with every tuning value and the tuning seeds; with all seeds when nothing is tuned. Seeds are
        outermost: a study that is stopped has compared all variants on some seeds."""
        study = self.study
        tunings = study.tunings()
        seeds = study.seeds[: study.tuning_seeds] if len(tunings) > 1 else study.seeds
        wanted = [(one, tuning, seed) for seed in seeds for one in study.variants for tuning in tunings]
        return [self._job(i, *one) for i, one in enumerate(wanted)]

    def second(self, best: Mapping[str, Mapping[str, Any]], after: int) -> list[Job]:
        """The best tuning of each variant with the other seeds; `after` is the number of the first of these jobs."""
        study = self.study
        if len(study.tunings()) < 2:
            return []
        seeds = study.seeds[study.tuning_seeds :]
        wanted = [(one, best[one.name], seed) for seed in seeds for one in study.variants if one.name in best]
        return [self._job(after + i, *one) for i, one in enumerate(wanted)]

    def _job(self, number: int, variant: Variant, tuning: Mapping[str, Any], seed: int) -> Job:
        tuned = [write_option(key, value) for key, value in tuning.items()]
        overrides = merge(self._common(), variant.overrides, tuned, self._matched(variant), [f"seed={seed}"])
        return Job(number, variant.name, dict(tuning), seed, tuple(overrides))

    def _common(self) -> list[str]:
        return merge(self.study.fixed, self.shared)

    def _matched(self, variant: Variant) -> list[str]:
        """How the variant is made as large as the reference; that is as it is."""
        study = self.study
        if study.match == "none" or variant.name == study.reference:
            return []
        reference = merge(self._common(), study.variant(study.reference).overrides)
        science = [one for one in reference if not one.startswith(("runtime", "record", "cache"))]
        return [f"match={study.match}", f"match.reference={write_value(science)}"]

    def as_dict(self, command: str, jobs: Iterable[Job]) -> dict[str, Any]:
        """What study.json says."""
        study = self.study
        return {
            "format": FORMAT,
            "name": study.name,
            "question": study.question,
            "command": command,
            "expected": study.expected,
            "source": study.source,
            "cost": study.cost,
            "reference": study.reference,
            "chain": study.chain,
            "metric": study.metric,
            "match": study.match,
            "variants": [{**asdict(one), "overrides": list(one.overrides)} for one in study.variants],
            "tuning": {key: list(values) for key, values in study.tuning.items()},
            "tuning_seeds": study.tuning_seeds,
            "seeds": list(study.seeds),
            "fixed": self._common(),
            "published": [asdict(one) for one in study.published],
            "jobs": [{**asdict(one), "overrides": list(one.overrides)} for one in jobs],
        }
