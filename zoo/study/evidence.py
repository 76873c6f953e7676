"""Which runs speak for which variant, and which do not, and why."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zoo.study.basis import SCORED, common_basis, difference, scored
from zoo.study.choice import Choice, choose, values_of
from zoo.study.loading import Loaded
from zoo.study.question import Question
from zoo.study.run import Run, Unread
from zoo.study.same_code import common_code, other_code
from zoo.sweep.notes import CONCLUDED

BySeed = Mapping[int, Run]


@dataclass(frozen=True)
class Evidence:
    """A study, sorted: what counts and what does not."""

    folder: Path
    question: Question
    runs: tuple[Run, ...]
    choices: Mapping[str, Choice]
    accepted: Mapping[str, BySeed]
    """By variant, then by seed: the runs of its chosen tuning that came to an end, done or diverged."""
    refused: tuple[tuple[Run, str], ...]
    """Runs that came to an end and are not compared with the others, with the reason."""
    basis: Mapping[str, Any] | None
    """What all accepted runs share."""
    unread: tuple[Unread, ...] = ()
    """Run folders that are no job's: what they are is damaged."""

    def done(self, variant: str) -> list[Run]:
        """Its accepted runs that have scores, by seed."""
        return [run for _, run in sorted(self.accepted.get(variant, {}).items()) if run.done]

    def states(self, variant: str) -> Counter[str]:
        """How many of its runs, of all tunings, stand how."""
        return Counter(run.state for run in self.runs if run.variant == variant)

    @property
    def shown(self) -> list[str]:
        """Variants that have scores."""
        return [name for name in self.question.names if self.done(name)]

    def slot(self, variant: str) -> int:
        """The place of a variant in the palette: the same in every chart."""
        return self.question.names.index(variant)


def sort_out(loaded: Loaded) -> Evidence:
    """Choose the tuning of each variant, and set apart what can't be compared with the reference."""
    question, choices = loaded.question, choose(loaded.question, loaded.runs)
    chosen = [run for run in loaded.runs if run.state in CONCLUDED and _is_chosen(run, choices)]
    common = common_basis([run for run in chosen if run.variant == question.reference] or chosen)
    targets, owners, code = _targets(question, chosen), _owners(question, chosen), common_code(chosen)
    accepted: dict[str, dict[int, Run]] = {name: {} for name in question.names}
    refused: list[tuple[Run, str]] = []
    for run in chosen:
        owner = owners[run.folder]
        same = "" if owner == run.variant else f"it is the same run as that of `{owner}`"
        reason = same or other_code(run, code) or _refusal(run, common or {}, targets, accepted[run.variant])
        if reason:
            refused.append((run, reason))
        else:
            accepted[run.variant][run.seed] = run
    return Evidence(loaded.folder, question, loaded.runs, choices, accepted, tuple(refused), common, loaded.unread)


def _is_chosen(run: Run, choices: Mapping[str, Choice]) -> bool:
    return run.variant in choices and values_of(run.tuning) == values_of(choices[run.variant].best)


def _targets(question: Question, runs: Sequence[Run]) -> int | None:
    """Scored test targets of the reference."""
    counts = Counter(scored(run) for run in runs if run.done and run.variant == question.reference)
    return counts.most_common(1)[0][0] if counts else None


def _owners(question: Question, runs: Sequence[Run]) -> dict[Path | None, str]:
    """The variant that a run folder is of: of several the reference, else the first."""
    owners: dict[Path | None, str] = {}
    for run in sorted(runs, key=lambda run: run.variant != question.reference):
        owners.setdefault(run.folder, run.variant)
    return owners


def _refusal(run: Run, common: Mapping[str, Any], targets: int | None, taken: BySeed) -> str:
    """Why a run is not compared; nothing when it is."""
    if differs := difference(run, common):
        return differs
    count = scored(run)
    if count is not None and targets and abs(count - targets) > SCORED * targets:
        return f"it scores {count:,} targets of the test split instead of {targets:,}"
    if run.seed in taken:
        return f"seed {run.seed} is there twice"
    return ""
