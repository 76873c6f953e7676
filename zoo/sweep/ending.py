"""What is told of a sweep in the end: how many jobs ended how, which are not done, and where to look for more."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.markup import escape
from rich.table import Table

from zoo.sweep.notes import Note
from zoo.training.files import read_json

MOST = 10
"""So many jobs that are not done are told, each in a line."""


def ending(path: Path, notes: Mapping[int, Note]) -> list[RenderableType]:
    """Lines and a table for the terminal."""
    counts = Counter(note.ended for note in notes.values())
    lines: list[RenderableType] = [
        escape(f"{path}: {', '.join(f'{count} {state}' for state, count in counts.items())}")
    ]
    bad = [note for note in notes.values() if note.ended != "done"]
    study = path / "study.json"
    names = {job["job"]: job_name(**job) for job in read_json(study)["jobs"]} if study.exists() else differing(notes)
    if bad:
        table = Table(box=None, header_style="bold", pad_edge=False)
        for column in ("job", "state", "run" if study.exists() else "overrides that differ"):
            table.add_column(column, overflow="fold")
        for note in bad[:MOST]:
            table.add_row(str(note.job), note.ended, escape(names.get(note.job, "")))
        more = f"and {len(bad) - MOST:,} more; " if len(bad) > MOST else ""
        printed = ", <job>.log what it printed" if study.exists() else ""
        lines += [table, escape(f"{more}{path}/<job>.json has all overrides of a job{printed}")]
    if study.exists():
        lines.append(escape(f"verdicts: python evaluate.py study={os.path.relpath(path)}"))
    return lines


def job_name(variant: str, tuning: Mapping[str, Any], seed: int, **others: object) -> str:
    """A job of a study in words. `others` is what else the study's file says of it."""
    tuned = [f"{key.rpartition('.')[2]} {value}" for key, value in tuning.items()]
    return ", ".join([variant, *tuned, f"seed {seed}"])


def differing(notes: Mapping[int, Note]) -> dict[int, str]:
    """The overrides by which each job differs from another one."""
    given: Sequence[set[str]] = [set(note.overrides) for note in notes.values()]
    common = set.intersection(*given) if len(given) > 1 else set()
    return {number: " ".join(one for one in note.overrides if one not in common) for number, note in notes.items()}
