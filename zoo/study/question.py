"""What a study asks: study.json, or what can be told from a folder of runs."""

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from zoo.errors import UserError
from zoo.study.metric import read_metric
from zoo.training.files import parse_json

FORMAT = 1
T = TypeVar("T")

SILENT = ("seed", "out", "cache", "runtime", "record", "hydra", "plugins", "resume")
"""Overrides that do not make another variant."""


@dataclass(frozen=True)
class Variant:
    """One of the things compared."""

    name: str
    overrides: tuple[str, ...] = ()
    says: str = ""
    """What it changes, in words."""
    against: str | None = None
    """The variant that it is compared with, where a study names one."""


@dataclass(frozen=True)
class Published:
    """An order of two variants that somebody published."""

    better: str
    worse: str
    source: str
    inversion: str | None


@dataclass(frozen=True)
class Job:
    """A run that the study wants."""

    job: int
    variant: str
    tuning: Mapping[str, Any]
    seed: int
    overrides: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is compared with what, on which seeds."""

    name: str
    question: str
    reference: str
    variants: tuple[Variant, ...]
    jobs: tuple[Job, ...]
    seeds: tuple[int, ...]
    metric: str = "test loss"
    chain: bool = False
    command: str = ""
    expected: str = ""
    source: str = ""
    match: str = "none"
    tuning: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    fixed: tuple[str, ...] = ()
    published: tuple[Published, ...] = ()
    named: bool = True
    """Whether a study.json says all this."""

    @property
    def names(self) -> tuple[str, ...]:
        """The variants, in their order."""
        return tuple(one.name for one in self.variants)

    def before(self, variant: str) -> str | None:
        """What the variant is compared with: the one that it names, the one before it in a chain, else the reference;
        None for the reference."""
        if variant == self.reference:
            return None
        named = next(one.against for one in self.variants if one.name == variant)
        if named is not None:
            return named
        return self.names[self.names.index(variant) - 1] if self.chain and variant != self.names[0] else self.reference


def read_question(file: Path) -> Question:
    """What study.json says. Raises UserError that names the file and the key when it is damaged."""
    try:
        node = parse_json(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{file} is damaged ({error}); start the study again, which writes it anew") from error
    reader = Reader(file, node)
    if reader.get("format", int) != FORMAT:
        raise UserError(f"{file} has format {node['format']}, this version reads {FORMAT}")
    variants = tuple(
        Variant(one.get("name", str), one.texts("overrides"), one.get("says", str, ""), one.get("against", str, None))
        for one in reader.each("variants")
    )
    question = Question(
        **{key: reader.get(key, str) for key in ("name", "question", "reference")},
        **{key: reader.get(key, str, "") for key in ("command", "expected", "source")},
        metric=reader.get("metric", str, "test loss"),
        match=reader.get("match", str, "none"),
        chain=reader.get("chain", bool, False),
        variants=variants,
        tuning=reader.get("tuning", dict, {}),
        seeds=tuple(reader.get("seeds", list, [])),
        fixed=reader.texts("fixed"),
        published=tuple(_published(one) for one in reader.each("published")),
        jobs=tuple(_job(one) for one in reader.each("jobs")),
    )
    read_metric(question.metric, f"{file}: metric")
    try:
        shlex.split(question.command)
    except ValueError as error:
        raise UserError(f"{file} is damaged: its command cannot be read as one ({error})") from error
    known = set(question.names)
    named = [question.reference, *(job.variant for job in question.jobs)]
    named += [one.against for one in question.variants if one.against is not None]
    named += [name for pair in question.published for name in (pair.better, pair.worse)]
    for name in named:
        if name not in known:
            raise UserError(f"{file} is damaged: '{name}' is none of its variants")
    return question


def _published(one: "Reader") -> Published:
    better, worse, source = (one.get(key, str) for key in ("better", "worse", "source"))
    return Published(better, worse, source, one.get("inversion", str, None))


def _job(one: "Reader") -> Job:
    number, variant, seed = one.get("job", int), one.get("variant", str), one.get("seed", int)
    return Job(number, variant, one.get("tuning", dict, {}), seed, one.texts("overrides"))


class Reader:
    """A JSON object whose values must have the right types."""

    def __init__(self, file: Path, node: Any):
        if not isinstance(node, dict):
            raise UserError(f"{file} is damaged: it holds no object where one belongs")
        self.file, self.node = file, node

    def get(self, key: str, kind: type, *default: Any) -> Any:
        """The value at the key, or the default where it is missing or null."""
        value = self.node.get(key)
        if value is None and default:
            return default[0]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise UserError(f"{self.file} is damaged: {key} is {'missing' if value is None else f'{value!r:.60}'}")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """The list of texts at the key; empty where it is missing."""
        return tuple(str(one) for one in self.get(key, list, []))

    def each(self, key: str) -> list["Reader"]:
        """The list of objects at the key; empty where it is missing."""
        return [Reader(self.file, one) for one in self.get(key, list, [])]


def question_of_runs(folder: Path, records: Sequence[tuple[str, Mapping[str, Any]]]) -> Question:
    """What a folder of runs can be asked: runs whose overrides are the same but for the seed are one variant. The
    reference is the variant with most runs; of several, the first by name."""
    spoken = [[one for one in record["overrides"] if _speaks(one)] for _, record in records]
    common = set.intersection(*map(set, spoken)) if spoken else set()
    names = [" ".join(one for one in words if one not in common) or "as they are" for words in spoken]
    overrides = {name: tuple(words) for name, words in zip(names, spoken, strict=True)}
    ranked = sorted(Counter(names).items(), key=lambda one: (-one[1], one[0]))
    seeds = [int(record["science"]["seed"]) for _, record in records]
    return Question(
        name=folder.name,
        question="Which of these is better?",
        reference=ranked[0][0],
        variants=tuple(Variant(name, overrides[name]) for name, _ in ranked),
        fixed=tuple(sorted(common)),
        seeds=tuple(sorted(set(seeds))),
        jobs=tuple(
            Job(place, name, {}, seed, tuple(record["overrides"]))
            for place, (name, seed, (_, record)) in enumerate(zip(names, seeds, records, strict=True))
        ),
        named=False,
    )


def _speaks(override: str) -> bool:
    key = override.lstrip("+~").partition("=")[0].partition(".")[0]
    return key not in SILENT
