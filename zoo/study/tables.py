"""A study as tidy tables, for a notebook: `pandas.DataFrame(zoo.study.load(folder).runs)`."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zoo.paths import as_path
from zoo.study.loading import load_runs
from zoo.study.question import Question
from zoo.study.run import Run, Unread

Rows = list[dict[str, Any]]

COSTS = ("parameters", "embedding_parameters", "active_parameters", "flops_per_token", "state_elements")


@dataclass(frozen=True)
class Tables:
    """Lists of flat dicts, each with the columns `job`, `variant` and `seed` first, then one for each tuned key."""

    question: Question
    runs: Rows
    """One row a run: state, final scores, costs, folder."""
    metrics: Rows
    """One row a line of metrics.jsonl, but for its nested values."""
    scores: Rows
    """One row a number at the end of training: split, kind (total, skill, distance, length), key, loss, floor, …"""


def load(folder: str | Path, points: int | None = None) -> Tables:
    """The tables of a study folder, or of a folder with run folders in it. `points` bounds the lines of each kind kept
    of a run. Raises UserError for a folder that is neither."""
    loaded = load_runs(as_path("folder", folder), points)
    return Tables(
        loaded.question,
        [*map(run_row, loaded.runs), *map(unread_row, loaded.unread)],
        [row for run in loaded.runs for row in _metrics(run)],
        [row for run in loaded.runs for row in _scores(run)],
    )


def run_row(run: Run) -> dict[str, Any]:
    """All that is one number or one word about a run."""
    final = run.validation[-1] if run.validation else (run.train[-1] if run.train else {})
    row = _head(run) | {"state": run.state, "message": run.message}
    for split in ("validation", "test"):
        scores = run.scores.get(split, {})
        row |= {f"{split}_{key}": scores.get(key) for key in ("loss", "bits_per_byte", "accuracy", "floor", "scored")}
    row |= {key: final.get(key) for key in ("step", "tokens", "seconds")}
    row |= {name: run.cost(name) for name in COSTS} | {"state_bytes": state_bytes(run)}
    return row | {"folder": None if run.folder is None else run.folder.name}


def unread_row(one: Unread) -> dict[str, Any]:
    """All that is known of a run folder that cannot be read."""
    return dict.fromkeys(("job", "variant", "seed")) | {
        "state": one.state,
        "message": one.message,
        "folder": one.folder.name,
    }


def state_bytes(run: Run) -> int | float | None:
    """Bytes that generation keeps per row; where only elements are known, of four bytes each."""
    elements = run.cost("state_elements")
    return run.cost("state_bytes") or (None if elements is None else 4 * elements)


def _head(run: Run) -> dict[str, Any]:
    return {"job": run.job, "variant": run.variant, "seed": run.seed, **run.tuning}


def _metrics(run: Run) -> Iterator[dict[str, Any]]:
    for point in (*run.train, *run.validation):
        yield _head(run) | dict(point)


def _scores(run: Run) -> Iterator[dict[str, Any]]:
    for split, scores in run.scores.items():
        head = _head(run) | {"split": split}
        plain = {key: value for key, value in scores.items() if not isinstance(value, dict) and key != "split"}
        yield head | {"kind": "total", "key": ""} | plain
        for skill, one in scores.get("skills", {}).items():
            yield head | {"kind": "skill", "key": skill} | {k: v for k, v in one.items() if not isinstance(v, dict)}
            for distance, above in one.get("by_distance", {}).items():
                yield head | {"kind": "distance", "key": f"{skill} {distance}", "above_floor": above}
    for one in run.lengths:
        yield _head(run) | {"split": "test", "kind": "length", "key": str(one.get("context"))} | dict(one)
