"""What a study file says, typed and frozen. A wrong one is refused with one sentence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal, get_args

from zoo.command.overrides import key_of, write_option
from zoo.config import refuse_unknown
from zoo.errors import UserError
from zoo.registry import did_you_mean
from zoo.schema import convert
from zoo.study.metric import read_metric
from zoo.study.variants import Variant, read_listed, read_mapping, read_overrides, read_variants

Match = Literal["none", "params", "active_params", "flops", "state"]


@dataclass(frozen=True)
class Pair:
    """An order of two variants that somebody published."""

    better: str
    worse: str
    source: str
    inversion: str | None
    """A known exception at small scale."""


@dataclass(frozen=True, kw_only=True)
class Study:
    """One question and the runs that answer it."""

    name: str
    question: str
    expected: str
    source: str
    cost: str
    reference: str
    chain: bool
    """Whether each variant is compared with the one before it; its overrides then are those of all before it too."""
    metric: str
    match: Match
    variants: tuple[Variant, ...]
    tuning: Mapping[str, tuple[Any, ...]]
    tuning_seeds: int
    """How many of the seeds every tuning value is run with; the best value is then run with the others."""
    seeds: tuple[int, ...]
    fixed: tuple[str, ...]
    published: tuple[Pair, ...]

    def tunings(self) -> list[dict[str, Any]]:
        """Every combination of tuning values; one that is empty when nothing is tuned."""
        return [dict(zip(self.tuning, values, strict=True)) for values in product(*self.tuning.values())]

    def variant(self, name: str) -> Variant:
        """That variant."""
        return next(one for one in self.variants if one.name == name)


def parse_study(node: Any, name: str) -> Study:
    """The study of a composed `study` node. Raises UserError for whatever is unknown, missing, mistyped or
    contradictory."""
    where = f"study={name}"
    node = read_mapping(node, where)
    refuse_unknown(node, (*(set(Study.__dataclass_fields__) - {"name"}), "grid"), "study.")
    texts = {key: convert(node.get(key), str, f"study.{key}") for key in ("question", "expected", "source", "cost")}
    for key, text in texts.items():
        if not text.strip():
            raise UserError(
                f"{where}: study.{key} is empty; a study says its question, what is expected, its source and its cost"
            )
    chain = convert(node.get("chain"), bool, "study.chain")
    fixed = read_overrides(node.get("fixed"), "study.fixed")
    variants = read_variants(node, chain)
    study = Study(
        name=name,
        **texts,
        reference=_reference(node.get("reference"), variants),
        chain=chain,
        metric=_metric(node.get("metric", "test loss")),
        match=convert(node.get("match"), Match, "study.match"),
        variants=variants,
        tuning=_tuning(node.get("tuning")),
        tuning_seeds=convert(node.get("tuning_seeds"), int, "study.tuning_seeds"),
        seeds=read_seeds(node.get("seeds"), "study.seeds"),
        fixed=fixed,
        published=_published(node.get("published"), variants),
    )
    _refuse_contradictions(study)
    return study


def _reference(value: Any, variants: Sequence[Variant]) -> str:
    names = [one.name for one in variants]
    name = names[0] if value is None else convert(value, str, "study.reference")
    if name not in names:
        raise UserError(
            f"study.reference: no variant '{name}'{did_you_mean(name, names)}; choose from {', '.join(names)}"
        )
    return name


def _metric(value: Any) -> str:
    text = convert(value, str, "study.metric")
    read_metric(text)
    return text


def _tuning(value: Any) -> dict[str, tuple[Any, ...]]:
    tuning = {}
    for key, values in read_mapping(value, "study.tuning").items():
        tuning[key] = tuple(read_listed(values, f"study.tuning.{key}"))
        read_overrides([write_option(key, one) for one in tuning[key]][:1], "study.tuning")
        if len(set(map(str, tuning[key]))) < max(1, len(tuning[key])):
            raise UserError(f"study.tuning.{key} lists one value twice, or none")
    return tuning


def read_seeds(value: Any, where: str) -> tuple[int, ...]:
    """Seeds, each once. Raises UserError for any other value."""
    seeds = convert(value, tuple[int, ...], where)
    if not seeds or len(set(seeds)) < len(seeds) or min(seeds) < 0:
        raise UserError(f"{where}={list(seeds)} must list at least one seed, each once, none negative")
    return seeds


def _published(value: Any, variants: Sequence[Variant]) -> tuple[Pair, ...]:
    names, found = [one.name for one in variants], []
    for i, one in enumerate(read_listed(value, "study.published")):
        where = f"study.published[{i}]"
        node = read_mapping(one, where)
        refuse_unknown(node, Pair.__dataclass_fields__, f"{where}.")
        better, worse, source = (convert(node.get(key), str, f"{where}.{key}") for key in ("better", "worse", "source"))
        for name in (better, worse):
            if name not in names:
                raise UserError(
                    f"{where}: no variant '{name}'{did_you_mean(name, names)}; choose from {', '.join(names)}"
                )
        found.append(Pair(better, worse, source, convert(node.get("inversion"), str | None, f"{where}.inversion")))
    return tuple(found)


def _refuse_contradictions(study: Study) -> None:
    """What only shows when the fields are seen together."""
    if not 1 <= study.tuning_seeds <= len(study.seeds):
        raise UserError(
            f"study.tuning_seeds={study.tuning_seeds} must lie between 1 and {len(study.seeds)}, the number of seeds"
        )
    varied = {key_of(one) for variant in study.variants for one in variant.overrides}
    for key in study.tuning:
        if key in varied:
            raise UserError(
                f"study.tuning.{key} is set by a variant too; a variant is compared at its best {key}, or has one"
            )
    assert study.match in get_args(Match)
