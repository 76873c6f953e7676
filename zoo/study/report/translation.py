"""How well each variant translates held-out sources, where that was scored."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from zoo.page import Cell, Column, Section, Table, trimmed
from zoo.study.measured import misfit, reasons, unused
from zoo.study.report.findings import Findings
from zoo.study.report.numbers import mean, spread
from zoo.study.run import Run

TITLE = "Translation"
HOW = "python evaluate.py run=<run> translation.pairs=500"
SPLIT = {"split": str, "pairs": int, "exact": float, "chrf": float}
SHAPE = {"asked": int, "signature": str, "machinery": {"dtype": str}, "splits": [SPLIT]}
SYNONYMS = {"exact": float, "best": float}
"""Of a split whose right translations are known."""


def section(findings: Findings) -> Section:
    """Exact match and chrF by variant and split. Runs that were scored otherwise than most are named and left out, as
    are those that were not scored."""
    evidence = findings.evidence
    done = {name: evidence.done(name) for name in evidence.shown}
    notes = unused(evidence, _reasons, "averaged")
    usable = {name: [run for run in runs if run.translation and not _reasons(run)] for name, runs in done.items()}
    ways = Counter(_how(run) for runs in usable.values() for run in runs)
    if not ways:
        why = f"No run's translations were scored (`{HOW}`)."
        return Section("translation", TITLE, missing=" ".join([why, *notes]))
    way = max(ways, key=lambda one: ways[one])
    others = {name: [run for run in runs if _how(run) != way] for name, runs in usable.items()}
    absent = {name: [run for run in runs if not run.translation] for name, runs in done.items()}
    what = "Scored on other pairs or splits, in another dtype or by another sacrebleu, and not averaged"
    notes += [*_named(what, others), *_named("Not scored", absent)]
    asked, _, signature, dtype = way
    said = f"Greedy translations of the first {asked:,} pairs of a split, in {dtype}; chrF by sacrebleu, {signature}."
    alike = {name: [run for run in runs if _how(run) == way] for name, runs in usable.items()}
    return Section("translation", TITLE, [said, *notes, trimmed(_table(alike))])


def _table(found: Mapping[str, list[Run]]) -> Table:
    rows: list[list[Cell]] = []
    for name, runs in found.items():
        for i, split in enumerate(runs[0].translation["splits"] if runs else []):
            scores = [run.translation["splits"][i] for run in runs]
            known = [one["synonyms"] for one in scores if one.get("synonyms")]
            exact, chrf = [one["exact"] for one in scores], [one["chrf"] for one in scores]
            row: list[Cell] = [name, split["split"], split["pairs"], mean(exact), spread(exact)]
            row += [mean([one[key] for one in known]) for key in ("best", "exact")]
            rows.append([*row, mean(chrf), spread(chrf, 2), len(runs)])
    columns = [Column("variant"), Column("split"), Column("pairs"), Column("exact match", 3)]
    columns += [Column("least … greatest seed"), Column("best expected", 3), Column("up to synonyms", 3)]
    columns += [Column("chrF", 2), Column("least … greatest chrF"), Column("seeds")]
    return Table(columns, rows, "Means over seeds")


def _reasons(run: Run) -> list[str]:
    """Why scores cannot be used: they are damaged, or of a model that is not the one that was trained."""
    if not run.translation:
        return []
    return reasons(
        run.translation,
        misfit(run.translation, SHAPE) or _wrong_synonyms(run.translation["splits"]),
        "translation.json",
        "score",
    )


def _wrong_synonyms(splits: list[dict[str, Any]]) -> str:
    places = ((f"splits[{i}].synonyms", one["synonyms"]) for i, one in enumerate(splits) if one.get("synonyms"))
    return next((wrong for place, one in places if (wrong := misfit(one, SYNONYMS, place))), "")


def _how(run: Run) -> tuple[int, tuple[tuple[str, int], ...], str, str]:
    """What must be equal for the scores of two runs to be averaged."""
    found = run.translation
    pairs = tuple((one["split"], one["pairs"]) for one in found["splits"])
    return found["asked"], pairs, found["signature"], found["machinery"]["dtype"]


def _named(what: str, runs: Mapping[str, list[Run]]) -> Iterator[str]:
    """One line that lists the runs, where there are some."""
    seeds = {name: ", ".join(str(run.seed) for run in some) for name, some in runs.items() if some}
    if seeds:
        yield f"{what}: {'; '.join(f'`{name}`, seeds {said}' for name, said in seeds.items())}."
