"""metrics.jsonl of a run folder: a line for each logged step of each split."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zoo.errors import UserError
from zoo.training.files import ANEW, parse_json


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    """The lines of metrics.jsonl; the torn last line of a killed process is left out. Raises UserError for another line
    that is damaged, or whose step is no number of a step."""
    path = folder / "metrics.jsonl"
    try:
        lines = path.read_bytes().split(b"\n") if path.exists() else []
    except OSError as error:
        raise UserError(f"{path} is no file that can be read ({error.strerror or error}); {ANEW}") from error
    found = []
    for number, line in enumerate(lines[:-1], start=1):  # what follows the last newline is nothing, or torn
        try:
            values = parse_json(line)
            step = values["step"] if isinstance(values, dict) else None
        except (ValueError, KeyError) as error:
            raise UserError(f"{path} is damaged in line {number}; {ANEW}") from error
        if type(step) is not int or step < 0:
            raise UserError(f"{path} is damaged in line {number}: it has no step; {ANEW}")
        found.append(values)
    return found


def lines_until(folder: Path, step: int, least: int) -> list[dict[str, Any]]:
    """The lines up to that step. Raises UserError when they are not all there: without the held-out scores of the step
    itself, `least` were written."""
    path = folder / "metrics.jsonl"
    found = [line for line in read_metrics(folder) if line["step"] <= step]
    if not path.exists():
        raise UserError(f"{path} is missing, and with it what was measured up to step {step}; {ANEW}")
    there = sum(line["step"] < step or line.get("split") == "train" for line in found)
    if there < least:
        raise UserError(f"{path} is damaged: it has {there} of the {least} lines up to step {step}; {ANEW}")
    return found


def refuse_lost(folder: Path, status: Mapping[str, Any]) -> None:
    """Raises UserError when a run that is done has lost lines that were written. A status that does not count them is
    of a run of before, which has one at least."""
    found, lines = len(read_metrics(folder)), status.get("lines")
    least = lines if type(lines) is int else 1
    if found < least:
        raise UserError(
            f"{folder / 'metrics.jsonl'} is damaged: it has {found} of the {least} lines of the finished run; {ANEW}"
        )
